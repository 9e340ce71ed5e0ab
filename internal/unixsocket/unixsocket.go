// Package unixsocket creates Unix sockets and connects to them.
package unixsocket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"plantstore/internal/atomicfile"
)

// maxPath is the maximum length of the path of a socket on all systems: the limit of macOS.
const maxPath = 103

// A Listener listens on a Unix socket.
type Listener struct {
	net.Listener

	close func() error
}

// Listen creates a socket at path with the given permissions. It replaces a socket that
// has no listener; it fails for any other file, or if the socket may have a listener. The
// directory must pass the checks of [atomicfile.OpenDir].
func Listen(ctx context.Context, path string, mode fs.FileMode) (*Listener, error) {
	return Replace(ctx, path, mode, func() error {
		conn, err := Dial(ctx, path)
		switch {
		case err == nil:
			_ = conn.Close()
			return fmt.Errorf("another process listens on %s", path)
		case errors.Is(err, refused), errors.Is(err, fs.ErrNotExist): // removed concurrently
			return nil
		}
		// The queue is full, or the socket belongs to another user.
		return fmt.Errorf("another process may listen there: %w; remove the socket if none does", err)
	})
}

// Replace is [Listen] with another check: a socket at path is replaced if check returns nil.
func Replace(ctx context.Context, path string, mode fs.FileMode, check func() error) (l *Listener, err error) {
	dir, err := atomicfile.OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = dir.Close() // opened for reading
		}
	}()
	if err := removeStale(dir, path, check); err != nil {
		return nil, err
	}
	listener, err := listen(ctx, path, mode)
	if err != nil {
		return nil, withPath(path, err)
	}
	if unix, ok := listener.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false) // Close removes it only if it was not replaced
	}
	info, err := dir.Lstat(filepath.Base(path))
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return &Listener{listener, sync.OnceValue(func() error { return remove(listener, dir, info) })}, nil
}

// Close stops listening and removes the socket, unless it was removed or replaced. It is
// safe for concurrent use and may be called again, since both a server and the owner of its
// listener may close it: all calls return the error of the first.
func (l *Listener) Close() error { return l.close() }

// remove implements Close for a listener whose socket was created in dir.
func remove(listener net.Listener, dir *os.Root, created fs.FileInfo) error {
	defer func() { _ = dir.Close() }()      // opened for reading
	there, err := dir.Lstat(created.Name()) // before Close, so that the inode can't be reused
	own := err == nil && os.SameFile(there, created)
	if err := listener.Close(); err != nil || !own { // if already closed, the socket may be another server's
		return err
	}
	if err := dir.Remove(created.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeStale removes a socket at path, in its directory dir, if check returns nil.
func removeStale(dir *os.Root, path string, check func() error) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is in the way: it is not a socket", path)
	}
	if err := check(); err != nil {
		return err
	}
	if err := dir.Remove(filepath.Base(path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Dial connects to the socket at path.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, withPath(path, err)
	}
	return conn, nil
}

// withPath replaces the address in an error of package net with the path, and explains the
// error of a path that exceeds the system's limit.
func withPath(path string, err error) error {
	if failure := new(net.OpError); errors.As(err, &failure) {
		err = failure.Err
	}
	if failure := new(os.SyscallError); errors.As(err, &failure) {
		err = failure.Err
	}
	if len(path) > maxPath && errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("%s: the path has %d bytes, and the limit for sockets is %d: choose a shorter one", path, len(path), maxPath)
	}
	return fmt.Errorf("%s: %w", path, err)
}
