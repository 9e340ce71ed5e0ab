package unixsocket

import "golang.org/x/sys/windows"

// refused is the error of connecting to a socket without a listener. Windows never returns
// the ECONNREFUSED of package syscall.
const refused = windows.WSAECONNREFUSED
