package listen

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// startUnix starts a server on a socket in a new directory.
func startUnix(t *testing.T, env ...string) (server *plantstore.Server, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "http.sock")
	return plantstore.Start(t, plantstore.Options{Env: append([]string{"ADDR=unix:" + path}, env...)}), path
}

func TestUnixSocket(t *testing.T) {
	t.Parallel()
	server, path := startUnix(t)
	if server.BaseURL != "http://localhost" || !strings.Contains(server.Log(), `"addr":"unix:`+path) {
		t.Errorf("the base URL is %s; the log is\n%s", server.BaseURL, server.Log())
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the mode is %v, %v, want 0660", info.Mode(), err)
	}
	create(t, newClient(t, nil, "unix", path), server, "1")
	conform(t, server, "--url", server.BaseURL, "--unix-socket", path, "--rule", "C1.2")

	second := plantstore.Command(t, t.TempDir(), []string{"ADDR=unix:" + path}, "serve")
	if code, out := plantstore.Finish(t, second); code != 1 || !strings.Contains(out, "another process listens") {
		t.Errorf("a second server: exit code %d\n%s", code, out)
	}
	server.Stop()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket still exists: %v", err)
	}
}

// TestUnixSocketAfterKill checks that the socket of a killed server is replaced.
func TestUnixSocketAfterKill(t *testing.T) {
	t.Parallel()
	server, path := startUnix(t)
	server.Kill()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("the killed server has left no socket: %v", err)
	}
	again := plantstore.Start(t, plantstore.Options{Dir: server.Dir, Env: []string{"ADDR=unix:" + path}})
	create(t, newClient(t, nil, "unix", path), again, "1")
}

// TestTLSOverUnixSocket checks that the server uses TLS over a Unix socket, too, if it is
// configured.
func TestTLSOverUnixSocket(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	server, path := startUnix(t, "TLS_CERT_FILE="+cert, "TLS_KEY_FILE="+key)
	create(t, newClient(t, authority.Client(), "unix", path), server, "1") // also a client of HTTP/2 speaks HTTP/1.1
	if server.BaseURL != "https://localhost" {
		t.Errorf("the base URL is %s", server.BaseURL)
	}
}

// A manager replaces systemd: it receives the notifications of a service.
type manager struct {
	*net.UnixConn

	t *testing.T
}

func newManager(t *testing.T) (m *manager, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "notify")
	conn := must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"}))(t)
	t.Cleanup(func() { _ = conn.Close() })
	return &manager{conn, t}, path
}

// want waits for a message.
func (m *manager) want(message string) {
	m.t.Helper()
	must.Do(m.t, m.SetReadDeadline(time.Now().Add(plantstore.Patience)))
	buffer := make([]byte, 100)
	n, err := m.Read(buffer)
	if got := string(buffer[:n]); err != nil || got != message {
		m.t.Fatalf("notification %q, %v, want %q", got, err, message)
	}
}

// TestNotify checks that a service of Type=notify notifies systemd of startup and shutdown.
func TestNotify(t *testing.T) {
	t.Parallel()
	m, path := newManager(t)
	server := plantstore.Start(t, plantstore.Options{Env: []string{"NOTIFY_SOCKET=" + path}})
	m.want("READY=1")
	server.Terminate()
	m.want("STOPPING=1")
	<-server.Exited() // a second signal would not wait
	server.Stop()
}
