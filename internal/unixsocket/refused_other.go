//go:build !windows

package unixsocket

import "syscall"

// refused is the error of connecting to a socket without a listener. macOS and the BSDs
// also return it if the listener's queue is full.
const refused = syscall.ECONNREFUSED
