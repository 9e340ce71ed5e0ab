//go:build !windows

package unixsocket

import "syscall"

// refused is the error of connecting to a socket on which nobody listens. macOS and
// the BSDs give it as well for one whose queue is full.
const refused = syscall.ECONNREFUSED
