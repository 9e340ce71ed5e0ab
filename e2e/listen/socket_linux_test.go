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

// TestUnixSocket checks a server on a Unix socket, and one that replaces the socket of the first after that
// was killed, and uses TLS.
func TestUnixSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "http.sock")
	server := plantstore.Start(t, plantstore.Options{Env: []string{"ADDR=unix:" + path}})
	if server.BaseURL != "http://localhost" || !strings.Contains(server.Log(), `"addr":"unix:`+path) {
		t.Errorf("the base URL is %s; the log is\n%s", server.BaseURL, server.Log())
	}
	create(t, newClient(t, nil, "unix", path), server, "1")
	conform(t, server, "--unix-socket", path, "--rule", "C1.2")
	second := plantstore.Command(t, t.TempDir(), []string{"ADDR=unix:" + path}, "serve")
	if code, out := plantstore.Finish(t, second); code != 1 || !strings.Contains(out, "another process listens") {
		t.Errorf("a second server: exit code %d\n%s", code, out)
	}

	server.Kill()
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Fatalf("the mode of the socket that is left is %v, %v, want 0660", info.Mode(), err)
	}
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	server = plantstore.Start(t, plantstore.Options{Env: []string{"ADDR=unix:" + path, "TLS_CERT_FILE=" + cert, "TLS_KEY_FILE=" + key}})
	if server.BaseURL != "https://localhost" {
		t.Errorf("the base URL is %s", server.BaseURL)
	}
	create(t, newClient(t, authority.Client(), "unix", path), server, "1")
	server.Stop()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket still exists: %v", err)
	}
}

// TestNotify checks that a service of Type=notify notifies systemd of startup and shutdown.
func TestNotify(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	systemd := must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"}))(t)
	t.Cleanup(func() { _ = systemd.Close() })
	want := func(message string) {
		t.Helper()
		must.Do(t, systemd.SetReadDeadline(time.Now().Add(plantstore.Patience)))
		buffer := make([]byte, 100)
		n, err := systemd.Read(buffer)
		if got := string(buffer[:n]); err != nil || got != message {
			t.Fatalf("notification %q, %v, want %q", got, err, message)
		}
	}
	server := plantstore.Start(t, plantstore.Options{Env: []string{"NOTIFY_SOCKET=" + path}})
	want("READY=1")
	server.Terminate()
	want("STOPPING=1")
	if code := server.AwaitExit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
