// Package control connects commands to the [storage.Store] of a running server, which has the
// database open exclusively. The server listens on a Unix socket that only its own user may
// open, next to the database. The protocol is HTTP.
package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"plantstore/internal/unixsocket"
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

// Listen creates the socket of a database. The caller must have the database open for writing,
// so that no other server uses the socket: one that remains, or belongs to a user who is not
// trusted, is replaced.
func Listen(ctx context.Context, database string) (*unixsocket.Listener, error) {
	path := SocketPath(database)
	return unixsocket.Replace(ctx, path, socketPerm, func() error {
		if conn, err := dial(ctx, database, path); err == nil {
			_ = conn.Close()
			return fmt.Errorf("another process listens on %s", path)
		}
		return nil
	})
}

// dial connects to the socket of the database, at path. It rejects a process of a user
// who is not trusted, and sends no data to it.
func dial(ctx context.Context, database, path string) (net.Conn, error) {
	conn, err := unixsocket.Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(conn, database, path); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
