// Package control lets the commands of an operator reach the plants while a
// server has them open: the server listens on a Unix socket beside the database,
// which only its own user may open, and offers the [storage.Store] there, over
// HTTP. It never listens on a network.
package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	// socketSuffix is put after the name of the database for that of its socket.
	socketSuffix = ".sock"
	socketPerm   = 0o600
	// maxAddress is how long the address of a Unix socket may be, in bytes, on
	// the system that allows the least, which is macOS.
	maxAddress = 103
	// answerTime bounds the first answer of a server.
	answerTime = 10 * time.Second
)

// SocketPath returns where the server of the database file has its socket:
// beside the file itself, where there are links to it.
func SocketPath(database string) string {
	if resolved, err := filepath.EvalSymlinks(database); err == nil {
		database = resolved
	}
	return database + socketSuffix
}

// A Listener is the socket of a server.
type Listener struct {
	net.Listener

	path string
	info fs.FileInfo // of the socket that was made
}

// Listen makes the socket of the database file. The caller must have the database
// open for writing: what another server has left there is replaced, which is for
// sure none that runs.
func Listen(ctx context.Context, database string) (*Listener, error) {
	path := SocketPath(database)
	if err := removeStale(ctx, database, path); err != nil {
		return nil, err
	}
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
		err = os.Chmod(path, socketPerm)
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

// removeStale removes a socket on which nobody listens any more, or that no server
// of the database has made.
func removeStale(ctx context.Context, database, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is in the way: it is no socket", path)
	}
	if conn, err := dial(ctx, database, path); err == nil {
		_ = conn.Close()
		return fmt.Errorf("somebody else listens on %s", path)
	}
	return os.Remove(path)
}

// dial connects to the socket of the database, at path.
func dial(ctx context.Context, database, path string) (net.Conn, error) {
	if err := checkOwner(database, path); err != nil {
		return nil, err
	}
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
	return fmt.Errorf("the address %s has %d bytes, a socket's has %d at most (%w): give the database a shorter path",
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
