//go:build unix

package unixsocket

import (
	"context"
	"io/fs"
	"net"
	"sync"
	"syscall"
)

// refused is the error of connecting to a socket without a listener. macOS and the BSDs
// also return it if the listener's queue is full.
const refused = syscall.ECONNREFUSED

// umask guards the umask of the process.
var umask sync.Mutex //nolint:gochecknoglobals // the umask is global

// listen creates a socket at address with its mode set from the start: a later chmod by
// path could affect another file. It changes the umask of the process while the socket is
// bound; on Linux only as far as the mode requires, so that files created concurrently
// get no additional permissions.
func listen(ctx context.Context, address string, mode fs.FileMode) (net.Listener, error) {
	umask.Lock()
	defer umask.Unlock()
	before, changed := 0, false
	config := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		return conn.Control(func(fd uintptr) {
			changed = true
			if syscall.Fchmod(int(fd), uint32(mode.Perm())) != nil {
				before = syscall.Umask(0o777 &^ int(mode.Perm()))
				return
			}
			// On Linux the socket gets the mode of its descriptor, less the umask.
			before = syscall.Umask(0o077)
			syscall.Umask(before &^ int(mode.Perm()))
		})
	}}
	listener, err := config.Listen(ctx, "unix", address)
	if changed {
		syscall.Umask(before)
	}
	return listener, err
}
