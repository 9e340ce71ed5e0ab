package unixsocket_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"plantstore/internal/unixsocket"
)

// leave creates a socket at path without a listener.
func leave(t *testing.T, path string) {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
}

// listen creates a socket at path, on which the test listens until it ends.
func listen(t *testing.T, path string) {
	t.Helper()
	listener, err := unixsocket.Listen(t.Context(), path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
}

// A place is how a path is prepared, and the error of Listen.
type place struct {
	make func(t *testing.T, path string)
	want string // in the error; empty: the existing file is replaced
}

func TestListen(t *testing.T) {
	t.Parallel()
	checkListen(t, map[string]place{
		"no file":       {func(*testing.T, string) {}, ""},
		"a stale one":   {leave, ""},
		"a listener":    {listen, "another process listens"},
		"a plain file":  {write, "it is not a socket"},
		"a broken link": {link, "it is not a socket"},
	})
}

func checkListen(t *testing.T, places map[string]place) {
	t.Helper()
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			place.make(t, path)
			before, _ := os.Lstat(path)
			listener, err := unixsocket.Listen(t.Context(), path, 0o600)
			if err == nil {
				defer func() { _ = listener.Close() }()
			}
			if place.want == "" && err != nil || place.want != "" && (err == nil || !strings.Contains(err.Error(), place.want)) {
				t.Fatalf("got %v, want %q", err, place.want)
			}
			if after, statErr := os.Lstat(path); err != nil && (statErr != nil || !os.SameFile(before, after)) {
				t.Errorf("it was refused, and the previous file is gone: %v", statErr)
			}
		})
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, path string) {
	t.Helper()
	if err := os.Symlink("nowhere", path); err != nil {
		t.Fatal(err)
	}
}

// TestCloseAtOnce checks that the servers of HTTP/1 and HTTP/2 may close their socket at the
// same time.
func TestCloseAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "socket")
	for range 200 {
		listener, err := unixsocket.Listen(t.Context(), path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		var closing sync.WaitGroup
		for range 4 {
			closing.Go(func() {
				if err := listener.Close(); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("after Close: %v", err)
				}
			})
		}
		closing.Wait()
	}
}
