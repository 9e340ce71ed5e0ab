//go:build unix

package unixsocket

import "syscall"

// keepPrivate gives a socket its mode before it has a name, where the system
// lets it, so that nobody else can connect before it has the one that it is to have.
func keepPrivate(_, _ string, conn syscall.RawConn) error {
	return conn.Control(func(fd uintptr) {
		_ = syscall.Fchmod(int(fd), 0o600) // Bind sets it again
	})
}
