package control_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plantstore/internal/control"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
	"plantstore/storage/storagetest"
)

// A faultyStore yields some plants and then an error, and so does its snapshot.
type faultyStore struct {
	control.Store

	err error
}

func (s faultyStore) Count(context.Context) (int64, error) { return 0, s.err }

func (s faultyStore) List(context.Context, int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for id := range int64(1000) {
			if !yield(storage.Record{ID: id, Plant: models.Plant{Name: "a"}}, nil) {
				return
			}
		}
		yield(storage.Record{}, s.err)
	}
}

// A faultySnapshotter has a snapshot as well.
type faultySnapshotter struct{ faultyStore }

func (s faultySnapshotter) Snapshot(_ context.Context, w io.Writer) error {
	_, err := w.Write(make([]byte, 1<<20))
	return errors.Join(err, s.err)
}

// serveFaulty serves a fake store.
func serveFaulty(t *testing.T, store control.Store) *control.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plants.db")
	server := serve(t, path, store)
	client, err := control.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(client.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
	return client
}

// TestStreamThatBreaksOff checks that the error that ends a stream follows the data that was
// sent before it.
func TestStreamThatBreaksOff(t *testing.T) {
	t.Parallel()
	broken := errors.Join(storage.ErrCorrupt, errors.New("id 7: \"käfer\"\nwas here"))
	client := serveFaulty(t, faultySnapshotter{faultyStore{err: broken}})
	plants, last := 0, error(nil)
	for _, err := range client.List(t.Context(), math.MinInt64) {
		if err == nil {
			plants++
		}
		last = err
	}
	if plants != 1000 || !errors.Is(last, storage.ErrCorrupt) || last.Error() != broken.Error() {
		t.Errorf("List: %d plants and %v, want 1000 and: %v", plants, last, broken)
	}
	err := client.Snapshot(t.Context(), io.Discard)
	if !errors.Is(err, storage.ErrCorrupt) || err.Error() != broken.Error() {
		t.Errorf("Snapshot: %v, want: %v", err, broken)
	}
	if _, err := client.Count(t.Context()); !errors.Is(err, storage.ErrCorrupt) || err.Error() != broken.Error() {
		t.Errorf("Count: %v, want: %v", err, broken)
	}
}

// TestCorruptRecord checks that the id of a corrupt record reaches the client.
func TestCorruptRecord(t *testing.T) {
	t.Parallel()
	broken := &storage.CorruptError{ID: math.MinInt64, Err: fmt.Errorf("%w: wrong checksum", storage.ErrCorrupt)}
	client := serveFaulty(t, faultySnapshotter{faultyStore{err: broken}})
	last := error(nil)
	for _, err := range client.List(t.Context(), math.MinInt64) {
		last = err
	}
	var got *storage.CorruptError
	if !errors.As(last, &got) || got.ID != math.MinInt64 || !errors.Is(last, storage.ErrCorrupt) || last.Error() != broken.Error() {
		t.Errorf("List: %v, want: %v with its id", last, broken)
	}
}

// TestServerEndsUnderWay checks that a response that a shutdown truncates is never accepted as
// complete.
func TestServerEndsUnderWay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plants.db")
	closed := make(chan struct{})
	server := serve(t, path, endlessStore{})
	client, err := control.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	plants, last := 0, error(nil)
	for _, err := range client.List(t.Context(), 0) {
		if plants++; plants == 1 {
			go func() { _ = server.Close(); close(closed) }()
		}
		last = err
	}
	<-closed
	if plants < 2 || last == nil {
		t.Errorf("List yielded %d plants and ended with %v, want an error", plants, last)
	}
}

// TestIncompleteResponse checks that every method returns the same error if the connection
// breaks within a response, whether that is a success or a failure.
func TestIncompleteResponse(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		client := dialBreaking(t, status)
		_, getErr := client.Get(t.Context(), 1)
		_, countErr := client.Count(t.Context())
		_, resetErr := client.Reset(t.Context())
		var listErr error
		for _, err := range client.List(t.Context(), 0) {
			listErr = err
		}
		for method, err := range map[string]error{
			"Get": getErr, "Count": countErr, "Reset": resetErr, "List": listErr, "Snapshot": client.Snapshot(t.Context(), io.Discard),
		} {
			want := storage.ErrUnavailable.Error() + ": the server exited during the request"
			if !errors.Is(err, storage.ErrUnavailable) || err.Error() != want {
				t.Errorf("status %d: %s: %v, want: %s", status, method, err, want)
			}
		}
		if err := client.CreateAll(t.Context(), []storage.Record{{ID: 1}})[0]; !errors.Is(err, storage.ErrUnknown) || errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("status %d: CreateAll: %v, want: %v", status, err, storage.ErrUnknown)
		}
	}
}

// dialBreaking returns a client of a server whose connections break within each response after
// the first.
func dialBreaking(t *testing.T, status int) *control.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plants.db")
	listener, err := control.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/ready" {
			return
		}
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	client, err := control.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestServerHasGone checks that after the server has exited and its socket is removed, the
// error is that no server responds, not that a file is missing.
func TestServerHasGone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plants.db")
	server := serve(t, path, endlessStore{})
	client, err := control.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	err = client.CreateAll(t.Context(), []storage.Record{{ID: 1}})[0]
	if !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("CreateAll: %v, want %v and no file in it", err, storage.ErrUnavailable)
	}
}

// An unrecordedStore has stored everything, but not recorded it when its context ends.
type unrecordedStore struct {
	control.Store

	called chan struct{}
}

func (s unrecordedStore) CreateAll(ctx context.Context, records []storage.Record) []error {
	close(s.called)
	<-ctx.Done()
	return slices.Repeat([]error{fmt.Errorf("%w: %w", storage.ErrUnrecorded, ctx.Err())}, len(records))
}

// TestUnrecordedWhenServerEnds checks that a stored plant is not reported as not stored when
// the server ends.
func TestUnrecordedWhenServerEnds(t *testing.T) {
	t.Parallel()
	path, called := filepath.Join(t.TempDir(), "plants.db"), make(chan struct{})
	server := serve(t, path, unrecordedStore{called: called})
	client, err := control.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	closed := make(chan error, 1)
	go func() {
		<-called
		closed <- server.Close()
	}()
	err = client.CreateAll(t.Context(), []storage.Record{{ID: 1}})[0]
	if !errors.Is(err, storage.ErrUnrecorded) && !errors.Is(err, storage.ErrUnknown) {
		t.Errorf("CreateAll: %v, want %v", err, storage.ErrUnrecorded)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestServerEndsBeforeStalledClient checks that a client that does not read its response does
// not delay the end of a server.
func TestServerEndsBeforeStalledClient(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plants.db")
	server := serve(t, path, endlessStore{})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://plantstore/v2/plants?from=0", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := wire(t, control.SocketPath(path)).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		t.Fatal(response.Status)
	}
	if err := server.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// An endlessStore lists until its context ends.
type endlessStore struct{ control.Store }

func (endlessStore) List(ctx context.Context, _ int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for id := int64(0); ctx.Err() == nil; id++ {
			if !yield(storage.Record{ID: id}, nil) {
				return
			}
		}
		yield(storage.Record{}, ctx.Err())
	}
}

// An emptyEngine is an engine that can only be closed.
type emptyEngine struct{ storage.Engine }

func (emptyEngine) Close() error { return nil }

func TestNotSupported(t *testing.T) {
	t.Parallel()
	store := storage.New(emptyEngine{}, storage.Features{}, storage.Options{})
	defer func() { _ = store.Close() }()
	client := serveFaulty(t, store)
	if err := client.Snapshot(t.Context(), io.Discard); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Snapshot: %v, want: %v", err, errors.ErrUnsupported)
	}
}

// TestSnapshot checks that a snapshot is the same through the socket and without it.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := openRemote(t, filepath.Join(dir, "plants.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, err := range s.CreateAll(t.Context(), []storage.Record{{ID: 1, Plant: models.Plant{Name: "a"}}, {ID: 2}}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var direct, remote bytes.Buffer
	if err := errors.Join(s.store.Snapshot(t.Context(), &direct), s.Snapshot(t.Context(), &remote)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(direct.Bytes(), remote.Bytes()) {
		t.Errorf("%d bytes have come of %d", remote.Len(), direct.Len())
	}
	path := filepath.Join(dir, "copy.db")
	if err := os.WriteFile(path, remote.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	copied, err := bbolt.OpenFile(path, storage.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	if report, err := copied.Check(t.Context(), nil); err != nil || !report.Intact() || report.Plants != 2 {
		t.Errorf("Check of the copy: %+v, %v", report, err)
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	s, err := openRemote(t, filepath.Join(t.TempDir(), "plants.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Create(t.Context(), 1, models.Plant{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]storagetest.Store{"direct": s.store, "remote": s} {
		outcomes := store.DryRun(t.Context(), []storage.Record{
			{ID: 1, Plant: models.Plant{Name: "a"}}, {ID: 1, Plant: models.Plant{Name: "b"}}, {ID: 2, Plant: models.Plant{Name: "c"}},
		})
		var identical, different *storage.ExistsError
		if len(outcomes) != 3 || !errors.As(outcomes[0], &identical) || !identical.Identical ||
			!errors.As(outcomes[1], &different) || different.Identical || outcomes[2] != nil {
			t.Errorf("%s: DryRun = %v", name, outcomes)
		}
		if _, err := store.Get(t.Context(), 2); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: the dry run has stored a plant: %v", name, err)
		}
	}
}
