//go:build !unix

package unixsocket

import (
	"context"
	"io/fs"
	"net"
)

// listen creates a socket at address. The permissions of its directory apply.
func listen(ctx context.Context, address string, _ fs.FileMode) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "unix", address)
}
