package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// maxPath is the maximum length of the path of a socket on all systems: the limit of macOS.
const maxPath = 103

// ErrListening is returned by [Listen] for a socket that is in use.
var ErrListening = errors.New("another process listens")

// Listen creates a Unix socket at path with the given permissions, in a directory that passes the
// checks of [MkdirAll]. It replaces a socket that has no listener; it fails for any
// other file, or if the socket may have a listener. Closing the listener removes the socket.
func Listen(ctx context.Context, path string, mode fs.FileMode) (net.Listener, error) {
	if err := checkPath(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	config := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		return conn.Control(func(fd uintptr) { restrict(fd, mode) })
	}}
	listener, err := config.Listen(ctx, "unix", path)
	if len(path) > maxPath && errors.Is(err, syscall.EINVAL) {
		err = fmt.Errorf("%s: the path has %d bytes, and the limit for sockets is %d: choose a shorter one", path, len(path), maxPath)
	}
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" { // the umask has reduced the mode
		if err := os.Chmod(path, mode); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	return listener, nil
}

// CanListen reports whether sockets like path are possible, as for another name of the same length. It
// returns true where this process can't find out.
func CanListen(ctx context.Context, path string) bool {
	if _, err := os.Lstat(path); err == nil || checkPath(filepath.Dir(path)) != nil {
		return true
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path[:len(path)-1]+"~")
	if err == nil {
		_ = listener.Close()
	}
	return err == nil || errors.Is(err, syscall.EACCES) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EADDRINUSE)
}

// removeStale removes a socket at path, if it has no listener.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is in the way: it is not a socket", path)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		_ = conn.Close()
		return fmt.Errorf("%w on %s", ErrListening, path)
	case !errors.Is(err, refused) && !errors.Is(err, fs.ErrNotExist):
		// The queue is full, or the socket belongs to another user.
		return fmt.Errorf("another process may listen there: %w; remove the socket if none does", err)
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) { // removed concurrently
		return err
	}
	return nil
}
