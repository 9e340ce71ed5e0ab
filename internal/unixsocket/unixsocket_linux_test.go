package unixsocket_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"plantstore/internal/unixsocket"
)

// TestListenUncertain checks that a socket that may have a listener is not replaced.
func TestListenUncertain(t *testing.T) {
	t.Parallel()
	checkListen(t, map[string]place{
		"a full queue": {overload, "another process may listen"},
		"another type": {datagrams, "another process may listen"},
	})
}

// overload creates a socket with a listener that never accepts, and with a full queue.
func overload(t *testing.T, path string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 1)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		conn, err := unixsocket.Dial(t.Context(), path)
		if errors.Is(err, syscall.EAGAIN) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("the queue does not fill")
}

// datagrams creates a socket that is in use but without connections.
func datagrams(t *testing.T, path string) {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
}

// TestModesMeanwhile checks that files created while a socket is bound get no additional
// permissions.
func TestModesMeanwhile(t *testing.T) { //nolint:paralleltest // it changes the umask of the process
	before := syscall.Umask(0o022)
	t.Cleanup(func() { syscall.Umask(before) })
	dir := t.TempDir()
	bound := make(chan struct{})
	go func() {
		defer close(bound)
		for range 200 {
			listener, err := unixsocket.Listen(t.Context(), filepath.Join(dir, "s"), 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			_ = listener.Close()
		}
	}()
	for n := 0; ; n++ {
		select {
		case <-bound:
			return
		default:
		}
		path := filepath.Join(dir, strconv.Itoa(n))
		if err := os.Mkdir(path, 0o777); err != nil { //nolint:gosec // the umask restricts it
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o022 != 0 {
			t.Fatalf("mode %v, %v", info.Mode(), err)
		}
	}
}
