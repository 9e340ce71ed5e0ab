package unixsocket

import (
	"context"
	"io/fs"
	"net"

	"golang.org/x/sys/windows"
)

// refused is the error of connecting to a socket without a listener. Windows never returns
// the ECONNREFUSED of package syscall.
const refused = windows.WSAECONNREFUSED

// listen creates a socket at address. The permissions of its directory apply.
func listen(ctx context.Context, address string, _ fs.FileMode) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "unix", address)
}
