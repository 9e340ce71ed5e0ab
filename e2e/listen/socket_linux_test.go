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

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/certtest"
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
	if _, status, body := newClient(t, nil, "unix", path).create(t, server, server.BaseURL, `{"id":1,"name":"fern"}`); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	conform(t, server, "--url", server.BaseURL, "--unix-socket", path)

	second := plantstore.Command(t, t.TempDir(), []string{"ADDR=unix:" + path}, "serve")
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "another process listens") {
		t.Errorf("a second server: %v\n%s", err, out)
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
	if _, status, body := newClient(t, nil, "unix", path).create(t, again, again.BaseURL, `{"id":1,"name":"fern"}`); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

// TestTLSOverUnixSocket checks that the server uses TLS over a Unix socket, too, if it is
// configured.
func TestTLSOverUnixSocket(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	server, path := startUnix(t, "TLS_CERT_FILE="+cert, "TLS_KEY_FILE="+key)
	version, status, body := newClient(t, authority.Client(), "unix", path).create(t, server, server.BaseURL, `{"id":1,"name":"fern"}`)
	if version != "HTTP/1.1" || status != 200 || server.BaseURL != "https://localhost" {
		t.Errorf("%s %d %s at %s", version, status, body, server.BaseURL)
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
	must.Do(m.t, m.SetReadDeadline(time.Now().Add(patience)))
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
