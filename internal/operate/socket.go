package operate

import (
	"context"
	"net"
	"path/filepath"
	"time"

	"plantstore/internal/files"
)

const (
	// socketSuffix follows the name of the database in the name of its socket.
	socketSuffix = ".sock"
	socketPerm   = 0o600
	// firstResponseTime bounds the first response of a server.
	firstResponseTime = 10 * time.Second
)

// SocketPath returns the path of the socket of a database: next to the file itself, if the
// path of the database is a link.
func SocketPath(database string) string {
	if resolved, err := filepath.EvalSymlinks(database); err == nil {
		database = resolved
	}
	return database + socketSuffix
}

// CanListen reports whether a database can have a socket. A path can be too long, or its file system
// without sockets.
func CanListen(ctx context.Context, database string) bool {
	return files.CanListen(ctx, SocketPath(database))
}

// Listen creates the socket of a database. It replaces a socket that a killed server has left.
func Listen(ctx context.Context, database string) (net.Listener, error) {
	return files.Listen(ctx, SocketPath(database), socketPerm)
}
