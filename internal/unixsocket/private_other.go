//go:build !unix

package unixsocket

import "syscall"

// keepPrivate does nothing: who may connect is up to the folder.
func keepPrivate(_, _ string, _ syscall.RawConn) error { return nil }
