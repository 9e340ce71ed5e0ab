package operate

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// newDatabase creates a database at path, with one plant, and serves it.
func newDatabase(t *testing.T, path string) *Server {
	t.Helper()
	store := must.Get(bbolt.OpenFile(path, storage.Options{}))(t)
	t.Cleanup(func() { _ = store.Close() })
	must.Do(t, store.Create(t.Context(), 1, models.Plant{Name: "a"}))
	server := serve(t, path, store)
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// wantPlant checks that the server of the database responds.
func wantPlant(t *testing.T, path string) {
	t.Helper()
	client, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatalf("Dial(%s): %v", path, err)
	}
	defer func() { _ = client.Close() }()
	if plant, err := client.Get(t.Context(), 1); err != nil || plant.Name != "a" {
		t.Errorf("Get: %v, %v", plant, err)
	}
}

// TestSocket checks that the socket exists only while the server runs, and only its user can open it.
// A socket that a killed server has left is replaced: internal/files and e2e/scripts test that.
func TestSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plants.db")
	if _, err := Dial(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Dial without a server: %v, want: %v", err, fs.ErrNotExist)
	}
	server := newDatabase(t, path)
	socket := SocketPath(path)
	info, err := os.Lstat(socket)
	if err != nil || info.Mode().Type() != fs.ModeSocket || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%s has the mode %v, %v", socket, info.Mode(), err)
	}
	wantPlant(t, path)
	if err := server.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := Dial(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Dial after Close: %v, want: %v", err, fs.ErrNotExist)
	}
}

// TestLinkedDatabase checks that the server is found through a link to the file, and the other
// way round.
func TestLinkedDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "plants.db"), filepath.Join(dir, "link")
	must.Do(t, os.Symlink(path, link))
	newDatabase(t, path)
	wantPlant(t, link)
}

// TestWireForm checks the lines of requests and responses.
func TestWireForm(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plants.db")
	newDatabase(t, path) // with the plant 1
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", SocketPath(path))
	}}
	t.Cleanup(transport.CloseIdleConnections)
	for _, test := range []struct{ request, body, want string }{
		{"GET /info", "", `{"version":"devel","base_url":"http://127.0.0.1:1"}`},
		{
			"POST /plants", `{"id":2,"name":"b","tag":""}` + "\n\n" + `{"id":1,"name":"a"}` + "\n" + `{"id":1,"name":"b"}`,
			"{}\n" + `{"error":409,"message":"the id is taken by an identical plant"}` + "\n" +
				`{"error":409,"message":"the id is taken by a different plant","stored":{"name":"a"}}`,
		},
		{"GET /plants?from=1", "", `{"id":1,"name":"a"}` + "\n" + `{"id":2,"name":"b","tag":""}`},
		{"GET /plant?id=1", "", `{"id":1,"name":"a"}`},
		{"GET /plant?id=3", "", `{"error":404,"message":"no plant has this id","kind":"not_found"}`},
		{"GET /count", "", `{"version":"devel","base_url":"http://127.0.0.1:1","plants":2}`},
	} {
		method, target, _ := strings.Cut(test.request, " ")
		request := must.Get(http.NewRequestWithContext(t.Context(), method, "http://plantstore"+target, strings.NewReader(test.body)))(t)
		response := must.Get(transport.RoundTrip(request))(t)
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if diff := cmp.Diff(test.want+"\n", string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", test.request, err, diff)
		}
	}
}
