package unixsocket_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"plantstore/internal/unixsocket"
)

// Where it is not sure that nobody listens, nothing is replaced.
func TestListenUncertain(t *testing.T) {
	t.Parallel()
	checkListen(t, map[string]place{
		"a full queue": {overload, "somebody may listen"},
		"another type": {datagrams, "somebody may listen"},
	})
}

// overload makes a socket on which somebody listens who accepts nobody, with a
// queue that is full.
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

// datagrams makes a socket to which there are no connections, though it is used.
func datagrams(t *testing.T, path string) {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
}
