// Package unixsocket makes Unix sockets and connects to them, wherever in the file
// system they are.
package unixsocket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// maxAddress is how long the address of a Unix socket may be, in bytes, on the
// system that allows the least, which is macOS.
const maxAddress = 103

// A Listener listens on a Unix socket.
type Listener struct {
	net.Listener

	path string
	info fs.FileInfo // of the socket that was made
}

// Listen makes a socket at path with that mode, which says who may connect. What is
// there must be nothing, or a socket on which nobody listens any more: that is
// replaced. One of which that is not certain stays, and is an error.
func Listen(ctx context.Context, path string, mode fs.FileMode) (*Listener, error) {
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	return Bind(ctx, path, mode)
}

// Bind is [Listen] where there is nothing at path.
func Bind(ctx context.Context, path string, mode fs.FileMode) (*Listener, error) {
	address, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer done()
	config := net.ListenConfig{Control: keepPrivate}
	listener, err := config.Listen(ctx, "unix", address)
	if err != nil {
		return nil, plain(path, err)
	}
	if unix, ok := listener.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false) // Close knows the path better
	}
	l := &Listener{Listener: listener, path: path}
	if l.info, err = os.Lstat(path); err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close stops listening and removes the socket, if it is still there and has not
// been replaced.
func (l *Listener) Close() error {
	there, err := os.Lstat(l.path) // while the system cannot give its number to another file
	own := err == nil && os.SameFile(there, l.info)
	if err := l.Listener.Close(); err != nil || !own { // closed before, it may be another server's by now
		return err
	}
	if err := os.Remove(l.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Addr returns the address of the socket, which is its path.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// removeStale removes a socket on which nobody listens any more.
func removeStale(ctx context.Context, path string) error {
	if err := Check(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	conn, err := Dial(ctx, path)
	switch {
	case err == nil:
		_ = conn.Close()
		return fmt.Errorf("somebody else listens on %s", path)
	case errors.Is(err, fs.ErrNotExist):
		return nil // it has just been removed
	case !errors.Is(err, refused): // a full queue, or a socket of another user
		return fmt.Errorf("somebody may listen there already: %w; remove the socket if nobody does", err)
	}
	return os.Remove(path)
}

// Check returns nil if there is a socket at path, an error that wraps
// [fs.ErrNotExist] if there is nothing, and any other if there is something else.
func Check(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is in the way: it is no socket", path)
	}
	return err
}

// Dial connects to the socket at path.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	address, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer done()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", address)
	if err != nil {
		return nil, plain(path, err)
	}
	return conn, nil
}

// shorten returns an address for the socket at path that is short enough: the
// path itself, or one through a link to its folder, until done is called.
func shorten(path string) (address string, done func(), err error) {
	if len(path) <= maxAddress {
		return path, func() {}, nil
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	tmp, err := os.MkdirTemp("", "plants-")
	if err != nil {
		return "", nil, tooLong(path, err)
	}
	done = func() { _ = os.RemoveAll(tmp) } // nothing is lost with what stays behind
	link := filepath.Join(tmp, "d")
	if err := os.Symlink(dir, link); err != nil {
		done()
		return "", nil, tooLong(path, err)
	}
	address = filepath.Join(link, filepath.Base(path))
	if len(address) > maxAddress {
		done()
		return "", nil, tooLong(path, errors.New("the name of the file alone is too long"))
	}
	return address, done, nil
}

// tooLong says that there can be no socket at path.
func tooLong(path string, cause error) error {
	return fmt.Errorf("the address %s has %d bytes, a socket's has %d at most (%w): choose a shorter path",
		path, len(path), maxAddress, cause)
}

// plain takes the address that was used out of an error of package net: the
// path says more.
func plain(path string, err error) error {
	if failure := new(net.OpError); errors.As(err, &failure) {
		err = failure.Err
	}
	if failure := new(os.SyscallError); errors.As(err, &failure) {
		err = failure.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
