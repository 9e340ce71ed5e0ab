//go:build unix

package files_test

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plantstore/internal/files"
	"plantstore/internal/must"
)

// TestListen checks that a socket is replaced only if it has no listener, and no other file is.
func TestListen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(path string) (io.Closer, error)
		want    string // in the error; empty: the existing file is replaced
	}{
		"no file": {func(string) (io.Closer, error) { return io.NopCloser(nil), nil }, ""},
		"a stale one": {func(path string) (io.Closer, error) {
			listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			listener.SetUnlinkOnClose(false)
			return io.NopCloser(nil), errors.Join(err, listener.Close())
		}, ""},
		"a listener": {func(path string) (io.Closer, error) { return files.Listen(t.Context(), path, 0o600) }, "another process listens"},
		"another type": {func(path string) (io.Closer, error) {
			return net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
		}, "another process may listen"},
		"a plain file":  {func(path string) (io.Closer, error) { return os.Create(path) }, "it is not a socket"},
		"a broken link": {func(path string) (io.Closer, error) { return io.NopCloser(nil), os.Symlink("nowhere", path) }, "it is not a socket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			existing := must.Get(tt.prepare(path))(t)
			defer func() { _ = existing.Close() }()
			before, _ := os.Lstat(path)
			listener, err := files.Listen(t.Context(), path, 0o600)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if err := listener.Close(); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("after Close: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
				t.Errorf("it was refused, and the previous file is gone: %v", err)
			}
		})
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 110))
	if _, err := files.Listen(t.Context(), long, 0o600); err == nil || !strings.Contains(err.Error(), "the limit for sockets is 103") {
		t.Errorf("a long path: %v", err)
	}
}

// TestSocketMode checks that the mode of a socket does not depend on the umask.
func TestSocketMode(t *testing.T) { //nolint:paralleltest // it changes the umask of the process
	dir := t.TempDir()
	before := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(before) })
	for _, umask := range []int{0o077, 0o022, 0} {
		syscall.Umask(umask)
		for _, mode := range []fs.FileMode{0o600, 0o660} {
			path := filepath.Join(dir, "s")
			listener, err := files.Listen(t.Context(), path, mode)
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
	}
}
