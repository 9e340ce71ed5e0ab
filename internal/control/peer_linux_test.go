package control_test

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"plantstore/internal/control"
	"plantstore/internal/testkit"
)

// TestForeignSocket checks that a socket is ignored unless the owner of the database, the
// caller or root listens on it. A server that starts replaces any other.
func TestForeignSocket(t *testing.T) {
	t.Parallel()
	testkit.RequireRoot(t, "become another user")
	const owner, stranger = 65532, 65533
	dir, err := os.MkdirTemp("", "plantstore-peer-") //nolint:usetesting // other users may not enter the directory of the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, fs.ModeSticky|0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "plants.db")
	server := newDatabase(t, path)
	socket := control.SocketPath(path)
	give := func(name string, user int) {
		t.Helper()
		if err := os.Chown(name, user, user); err != nil {
			t.Fatal(err)
		}
	}
	give(path, owner)
	wantPlant(t, path) // from root
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	for user, ignored := range map[int]bool{owner: false, stranger: true} {
		listener := listenAs(t, user, socket)
		give(socket, owner) // its path is the same as the server's
		go func() {
			for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
				_ = conn.Close() // unlike a server
			}
		}()
		client, err := control.Dial(t.Context(), path)
		if err == nil || strings.Contains(err.Error(), "is ignored: the user 65533 listens there") != ignored {
			t.Errorf("Dial of user %d: %v, %v, want that the socket is ignored: %t", user, client, err, ignored)
		}
		if !ignored {
			_ = listener.Close()
			continue
		}
		replacement, err := control.Listen(t.Context(), path)
		if err != nil {
			t.Fatalf("Listen over a stranger's socket: %v", err)
		}
		_ = listener.Close()
		if err := replacement.Close(); err != nil {
			t.Error(err)
		}
	}
}

// listenAs listens on a socket as another user.
func listenAs(t *testing.T, user int, socket string) net.Listener {
	t.Helper()
	type outcome struct {
		listener net.Listener
		err      error
	}
	done := make(chan outcome)
	go func() {
		// Linux has a user for each thread. This one ends with the goroutine, still locked to it.
		runtime.LockOSThread()
		same := ^uintptr(0)
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, same, uintptr(user), same); errno != 0 {
			done <- outcome{nil, errno}
			return
		}
		listener, err := new(net.ListenConfig).Listen(context.Background(), "unix", socket)
		done <- outcome{listener, err}
	}()
	o := <-done
	if o.err != nil {
		t.Fatal(o.err)
	}
	t.Cleanup(func() { _ = o.listener.Close() })
	return o.listener
}
