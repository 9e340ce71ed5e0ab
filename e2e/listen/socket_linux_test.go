package listen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
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
	server, path := startUnix(t, "SOCKET_MODE=0600")
	server.Kill()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("the killed server has left no socket: %v", err)
	}
	again := plantstore.Start(t, plantstore.Options{Dir: server.Dir, Env: []string{"ADDR=unix:" + path, "SOCKET_MODE=0666"}})
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("the mode is %v, %v, want 0666", info.Mode(), err)
	}
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
	if version != "HTTP/2.0" || status != 200 || server.BaseURL != "https://localhost" {
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
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &manager{conn, t}, path
}

// want waits for a message, and skips watchdog messages.
func (m *manager) want(message string) {
	m.t.Helper()
	if err := m.SetReadDeadline(time.Now().Add(patience)); err != nil {
		m.t.Fatal(err)
	}
	for buffer := make([]byte, 100); ; {
		n, err := m.Read(buffer)
		if err != nil {
			m.t.Fatalf("waiting for %s: %v", message, err)
		}
		switch got := string(buffer[:n]); got {
		case message:
			return
		case "WATCHDOG=1":
		default:
			m.t.Fatalf("notification %q, want %q", got, message)
		}
	}
}

// TestNotify checks that a service of Type=notify notifies systemd of startup, liveness and
// shutdown.
func TestNotify(t *testing.T) {
	t.Parallel()
	m, path := newManager(t)
	server := plantstore.Start(t, plantstore.Options{Env: []string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=200000"}})
	m.want("READY=1")
	m.want("WATCHDOG=1")
	m.want("WATCHDOG=1")
	server.Terminate()
	m.want("STOPPING=1")
	<-server.Exited() // a second signal would not wait
	server.Stop()
}

// TestSocketActivation checks that the server uses systemd's sockets for clients instead of
// ADDR, and responds to requests that arrived before it started. It logs a warning about other
// sockets.
func TestSocketActivation(t *testing.T) {
	t.Parallel()
	tools.Require(t, "systemd-socket-activate")
	for name, test := range map[string]struct {
		names  []string // of the sockets
		served []int
	}{
		"one without a name":      {[]string{""}, []int{0}},
		"one of another name":     {[]string{"plants.socket"}, []int{0}},
		"one of several":          {[]string{"other", "http"}, []int{1}},
		"several":                 {[]string{"http", "http"}, []int{0, 1}},
		"several of several":      {[]string{"http", "other", "http"}, []int{0, 2}},
		"several of another name": {[]string{"plants.socket", "plants.socket"}, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := activate(t, test.names)
			var addresses []string
			for _, i := range test.served {
				a.checkResponses(i)
				addresses = append(addresses, "unix:"+a.paths[i])
			}
			log := a.stop()
			if want := `"addr":"` + strings.Join(addresses, ", ") + `"`; !strings.Contains(log, want) {
				t.Errorf("the log lacks %s:\n%s", want, log)
			}
			if n, want := strings.Count(log, `"name":"other"`), len(test.names)-len(test.served); n != want {
				t.Errorf("%d warnings about other sockets, want %d:\n%s", n, want, log)
			}
		})
	}
}

// An activation is a server that is started when a client connects to one of the sockets that
// are passed to it.
type activation struct {
	t     *testing.T
	paths []string // of the sockets
	stop  func() (log string)
}

// activate opens sockets with these names. An empty name means that there is none.
func activate(t *testing.T, names []string) *activation {
	t.Helper()
	dir := t.TempDir()
	a := &activation{t: t}
	var args []string
	for i := range names {
		a.paths = append(a.paths, filepath.Join(dir, fmt.Sprint(i, ".sock")))
		args = append(args, "--listen="+a.paths[i])
	}
	if all := strings.Join(names, ":"); all != "" {
		args = append(args, "--fdname="+all)
	}
	cmd, server, log := plantstore.Command(t, dir, nil), plantstore.Command(t, dir, nil, "serve"), new(bytes.Buffer)
	cmd.Path, cmd.Args = tools.Require(t, "systemd-socket-activate"), slices.Concat(
		[]string{"systemd-socket-activate", "--setenv=ADMIN_ADDR=off", "--setenv=JWT_SECRET=" + strings.Repeat("s", 32)}, args, server.Args)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.stop = sync.OnceValue(func() string {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server exited with %v:\n%s", err, log)
		}
		for _, path := range a.paths {
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("the socket of systemd was removed: %v", err)
			}
		}
		return log.String()
	})
	t.Cleanup(func() { a.stop() })
	for _, path := range a.paths {
		await(t, "the socket accepts connections", func() bool { return listens(t, path) })
	}
	return a
}

// listens reports whether a process listens on a socket, which may exist before.
func listens(t *testing.T, path string) bool {
	t.Helper()
	sockets, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	const accepting = " 00010000 " // flags: __SO_ACCEPTCON
	for line := range strings.Lines(string(sockets)) {
		if strings.HasSuffix(strings.TrimSpace(line), " "+path) && strings.Contains(line, accepting) {
			return true
		}
	}
	return false
}

// checkResponses sends a request on a socket.
func (a *activation) checkResponses(socket int) {
	a.t.Helper()
	request, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, "http://localhost/openapi.json", http.NoBody)
	if err != nil {
		a.t.Fatal(err)
	}
	if response, _ := newClient(a.t, nil, "unix", a.paths[socket]).do(a.t, request); response.StatusCode != http.StatusOK {
		a.t.Errorf("%s: status %s", a.paths[socket], response.Status)
	}
}

// TestWrongActivation checks that unsuitable sockets are refused, and that the server listens on
// no other address: one of several sockets must have the right name, and clients must be able to
// connect to it.
func TestWrongActivation(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"a:b":    "FileDescriptorName=http",
		"http:b": "must be a socket of ListenStream=",
		"a":      "must be a socket of ListenStream=",
	} {
		t.Run(names, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var files []*os.File
			for name := range strings.SplitSeq(names, ":") {
				file, err := os.Create(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = file.Close() }()
				files = append(files, file)
			}
			server := plantstore.Command(t, dir, []string{fmt.Sprint("LISTEN_FDS=", len(files)), "LISTEN_FDNAMES=" + names}, "serve")
			cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `LISTEN_PID=$$ exec "$@"`, "sh"}, server.Args...)...)
			cmd.Dir, cmd.Env, cmd.ExtraFiles = dir, server.Env, files
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
