//go:build unix

package unixsocket_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"plantstore/internal/unixsocket"
)

// TestMode checks that the mode of a socket does not depend on the umask, which is not changed.
func TestMode(t *testing.T) { //nolint:paralleltest // it changes the umask of the process
	dir := t.TempDir()
	before := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(before) })
	for _, umask := range []int{0o077, 0o022, 0} {
		syscall.Umask(umask)
		for _, mode := range []fs.FileMode{0o600, 0o660, 0o666} {
			path := filepath.Join(dir, "s")
			listener, err := unixsocket.Listen(t.Context(), path, mode)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|mode {
				t.Errorf("with umask %o the mode is %v, %v, want %v", umask, info.Mode(), err, mode)
			}
			if err := listener.Close(); err != nil {
				t.Error(err)
			}
		}
		if after := syscall.Umask(umask); after != umask {
			t.Errorf("the umask is %o, want %o", after, umask)
		}
	}
}
