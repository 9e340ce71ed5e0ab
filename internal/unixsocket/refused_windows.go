package unixsocket

import "golang.org/x/sys/windows"

// refused is the error of connecting to a socket on which nobody listens. That of
// package syscall is a number of its own, which Windows never gives.
const refused = windows.WSAECONNREFUSED
