package operate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// A faultyStore yields some plants and then an error, and so does its snapshot.
type faultyStore struct {
	storage.FileEngine

	err error
}

func (s faultyStore) Count(context.Context) (int64, error) { return 0, s.err }

func (s faultyStore) List(context.Context, int64, bool) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for id := range int64(1000) {
			if !yield(storage.Record{ID: id, Plant: models.Plant{Name: "a"}}, nil) {
				return
			}
		}
		yield(storage.Record{}, s.err)
	}
}

func (s faultyStore) Snapshot(_ context.Context, w io.Writer) error {
	_, err := w.Write(make([]byte, 1<<20))
	return errors.Join(err, s.err)
}

// dial returns a client of a server of a store.
func dial(t *testing.T, store *storage.Store) (*Client, *Server) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plants.db")
	server := serve(t, path, store)
	client := must.Get(Dial(t.Context(), path))(t)
	t.Cleanup(func() { must.Do(t, errors.Join(client.Close(), server.Close())) })
	return client, server
}

// readOnly returns a store of an engine that only lists.
func readOnly(engine storage.Engine) *storage.Store {
	return storage.New(engine, nil, storage.Limits{}, storage.Options{ReadOnly: true})
}

// dialBroken returns a client of a server with this info that otherwise sends the text. It closes the
// connection within a text that ends no line.
func dialBroken(t *testing.T, info string, status int, text string) (*Client, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plants.db")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/info" && info != "" {
			_, _ = io.WriteString(w, info+"\n")
			return
		}
		if !strings.HasSuffix(text, "\n") { // the connection ends within a chunk
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d Status\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n%s", status, text)
			_ = conn.Close()
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	_ = server.Listener.Close()
	server.Listener = must.Get(Listen(t.Context(), path))(t)
	server.Start()
	t.Cleanup(server.Close)
	client, err := Dial(t.Context(), path)
	if err == nil {
		t.Cleanup(func() { _ = client.Close() })
	}
	return client, err
}

// The infos of servers of the same version, and of another one.
const (
	own   = `{"version":"devel"}`
	other = `{"version":"v0.9.0 (abc)","new":true}`
)

// callAll returns the errors of the methods of a client.
func callAll(ctx context.Context, client *Client) map[string]error {
	_, getErr := client.Get(ctx, 1)
	_, countErr := client.Count(ctx)
	var listErr error
	for _, err := range client.List(ctx, 0) {
		listErr = err
	}
	return map[string]error{
		"Get": getErr, "Count": countErr, "List": listErr, "Snapshot": client.Snapshot(ctx, io.Discard),
		"CreateAll": client.CreateAll(ctx, make([]storage.Record, 2))[0],
	}
}

// TestFaultOfStore checks that the error that ends a list follows the plants before it, and that a
// snapshot with an error is not taken for complete.
func TestFaultOfStore(t *testing.T) {
	t.Parallel()
	broken := &storage.CorruptError{ID: math.MinInt64, Err: fmt.Errorf("%w: \"käfer\"\nwas here", storage.ErrCorrupt)}
	client, _ := dial(t, readOnly(faultyStore{err: broken}))
	plants, last := 0, error(nil)
	for _, err := range client.List(t.Context(), math.MinInt64) {
		if err == nil {
			plants++
		}
		last = err
	}
	_, countErr := client.Count(t.Context())
	for method, err := range map[string]error{"List": last, "Count": countErr, "Snapshot": client.Snapshot(t.Context(), io.Discard)} {
		var got *storage.CorruptError
		if !errors.As(err, &got) || got.ID != math.MinInt64 || !errors.Is(err, storage.ErrCorrupt) || err.Error() != broken.Error() {
			t.Errorf("%s: %v, want: %v with its id", method, err, broken)
		}
	}
	if plants != 1000 {
		t.Errorf("List: %d plants, want 1000", plants)
	}
}

// TestIncompleteResponse checks the errors of all methods if the connection breaks within a
// response, or the response is something else: whether a POST had its effect is unknown. A connection that
// breaks says nothing about the version of the server.
func TestIncompleteResponse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		info   string
		status int
		text   string
	}{
		{own, 200, `{"id":1,"na`},
		{own, 200, ""},
		{own, 200, `{"mood":"good"}`},
		{own, 400, "<html>\n"},
		{own, 400, `{"error":5`},
		{other, 200, `{"id":1,"na`},
		{other, 200, ""},
		{other, 400, `{"error":5`},
	} {
		client := must.Get(dialBroken(t, test.info, test.status, test.text))(t)
		for method, err := range callAll(t.Context(), client) {
			want := storage.ErrUnavailable
			if method == "CreateAll" {
				want = storage.ErrUnknown
			}
			if text := want.Error() + ": the response of the server is missing or incomplete"; !errors.Is(err, want) || err.Error() != text {
				t.Errorf("%v: %s: %v, want: %s", test, method, err, text)
			}
		}
	}
	if _, err := dialBroken(t, "", http.StatusOK, ""); err == nil || errors.As(err, new(*VersionError)) {
		t.Errorf("Dial of a server that ends: %v", err)
	}
}

// TestVersions checks that the error names both versions if a command and a server of different versions
// do not understand each other.
func TestVersions(t *testing.T) {
	t.Parallel()
	const message = "the server has the version v0.9.0 (abc), and this command has devel: restart the server, or use the program that it runs"
	for text, status := range map[string]int{`{"mood":1}`: 200, "<html>": 400, `{"error":405,"message":"x"}`: 400, `{"error":404,"message":"nothing at this path"}`: 400} {
		client := must.Get(dialBroken(t, other, status, text+"\n"))(t)
		for method, err := range callAll(t.Context(), client) {
			misunderstood := method == "List" || method == "CreateAll" || status == 400 // the others ignore the unknown field
			if misunderstood && !strings.HasSuffix(fmt.Sprint(err), message) {
				t.Errorf("%s: %s: %v, want: %s", text, method, err, message)
			}
		}
	}
	_, err := dialBroken(t, "", http.StatusNotFound, "404 page not found\n")
	if version, ok := errors.AsType[*VersionError](err); !ok || version.Server != "" {
		t.Errorf("Dial: %v", err)
	}
}

// TestOutcomesBeforeTheEnd checks that outcomes that have come before the connection broke are
// returned, and the others are unknown.
func TestOutcomesBeforeTheEnd(t *testing.T) {
	t.Parallel()
	client := must.Get(dialBroken(t, own, http.StatusOK, "{}\n"+`{"error":409,"message":"x","stored":{"name":"Fern"}}`+"\n{"))(t)
	got := client.CreateAll(t.Context(), make([]storage.Record, 4))
	exists, taken := errors.AsType[*storage.ExistsError](got[1])
	if len(got) != 4 || got[0] != nil || !taken || exists.Stored.Name != "Fern" || !errors.Is(got[2], storage.ErrUnknown) || !errors.Is(got[3], storage.ErrUnknown) {
		t.Errorf("CreateAll: %v", got)
	}
}

// TestServerHasGone checks the error after the server has exited.
func TestServerHasGone(t *testing.T) {
	t.Parallel()
	client, server := dial(t, readOnly(endlessStore{}))
	must.Do(t, server.Close())
	for method, err := range callAll(t.Context(), client) {
		if !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), "no server runs") {
			t.Errorf("%s: %v, want that no server runs", method, err)
		}
	}
}

// TestServerEndsUnderWay checks that a list that a shutdown truncates is never accepted as
// complete, and that a client that does not read its response does not delay the end of a server.
func TestServerEndsUnderWay(t *testing.T) {
	t.Parallel()
	client, server := dial(t, readOnly(endlessStore{}))
	plants, last := 0, error(nil)
	for _, err := range client.List(t.Context(), 0) {
		if plants++; plants == 1 {
			if err := server.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		last = err
	}
	if plants < 2 || last == nil {
		t.Errorf("List yielded %d plants and ended with %v, want an error", plants, last)
	}
}

// An endlessStore lists until its context ends.
type endlessStore struct{ storage.Engine }

func (endlessStore) List(ctx context.Context, _ int64, _ bool) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for id := int64(0); ctx.Err() == nil; id++ {
			if !yield(storage.Record{ID: id}, nil) {
				return
			}
		}
		yield(storage.Record{}, ctx.Err())
	}
}

// TestSnapshot checks that a snapshot is the same through the socket and without it.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	s := must.Get(openRemote(t, filepath.Join(t.TempDir(), "plants.db")))(t)
	defer func() { _ = s.Close() }()
	must.Do(t, errors.Join(s.CreateAll(t.Context(), []storage.Record{{ID: 1, Plant: models.Plant{Name: "a"}}, {ID: 2}})...))
	var direct, remote bytes.Buffer
	must.Do(t, errors.Join(s.store.Snapshot(t.Context(), &direct), s.Snapshot(t.Context(), &remote)))
	if !bytes.Equal(direct.Bytes(), remote.Bytes()) {
		t.Errorf("%d bytes have come of %d", remote.Len(), direct.Len())
	}
}
