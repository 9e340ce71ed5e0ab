//go:build unix

package control

import "syscall"

// keepPrivate gives a socket its mode before it has a name, where the system
// lets it, so that nobody else can connect in between.
func keepPrivate(_, _ string, conn syscall.RawConn) error {
	return conn.Control(func(fd uintptr) {
		_ = syscall.Fchmod(int(fd), socketPerm) // Listen sets it again
	})
}
