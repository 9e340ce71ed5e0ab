package attack

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestEndlessControlSocket checks that a command reads a bounded number of bytes from a control
// socket that sends without end: as a response that is not a line, and as more lines than there
// are plants.
func TestEndlessControlSocket(t *testing.T) {
	t.Parallel()
	const most = 1<<20 + 1<<20 // bytes of a line, and of the buffers of the connection
	for _, piece := range []string{" ", "x", `"`, "[", "{}\n"} {
		dir := t.TempDir()
		var sent atomic.Int64
		server := serveControl(t, dir, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/info" && piece == "{}\n" {
				_, _ = io.WriteString(w, piece)
				return
			}
			for text := strings.Repeat(piece, 4<<10); ; {
				n, err := io.WriteString(w, text)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		})
		cmd := plantstore.Command(t, dir, []string{"ADMIN_ADDR="}, "health") // of the server on the database
		if piece == "{}\n" {
			cmd = plantstore.Command(t, dir, nil, "plants", "import", "-")
			cmd.Stdin = strings.NewReader(strings.Repeat(`{"id":1,"name":"fern"}`+"\n", 100))
		}
		r := finish(t, cmd)
		server.Close()
		if n := sent.Load(); n == 0 || n > most {
			t.Errorf("%q: the command reads %d bytes, want at most %d:\n%s", piece, n, most, r.output)
		}
	}
}

// serveControl serves the control socket of the database in a working directory.
func serveControl(t *testing.T, dir string, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	path := filepath.Join(dir, "data", "plants.db.sock")
	must.Do(t, os.Mkdir(filepath.Dir(path), 0o700))
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "unix", path))(t)
	server := httptest.NewUnstartedServer(handler)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	return server
}
