// Package control lets the commands of an operator reach the plants while a
// server has them open: the server listens on a Unix socket beside the database,
// which only its own user may open, and offers the [storage.Store] there, over
// HTTP. It never listens on a network.
package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"time"

	"plantstore/internal/atomicfile"
	"plantstore/internal/unixsocket"
)

const (
	// socketSuffix is put after the name of the database for that of its socket.
	socketSuffix = ".sock"
	socketPerm   = 0o600
	// answerTime bounds the first answer of a server.
	answerTime = 10 * time.Second
)

// SocketPath returns where the server of the database file has its socket:
// beside the file itself, where there are links to it.
func SocketPath(database string) string {
	if resolved, err := filepath.EvalSymlinks(database); err == nil {
		database = resolved
	}
	return database + socketSuffix
}

// Listen makes the socket of the database file. The caller must have the database
// open for writing: what another server has left there is replaced, which is for
// sure none that runs.
func Listen(ctx context.Context, database string) (*unixsocket.Listener, error) {
	path := SocketPath(database)
	if err := atomicfile.Check(path); err != nil {
		return nil, err
	}
	if err := removeStale(ctx, database, path); err != nil {
		return nil, err
	}
	return unixsocket.Bind(ctx, path, socketPerm)
}

// removeStale removes a socket on which nobody listens any more, or that no server
// of the database has made.
func removeStale(ctx context.Context, database, path string) error {
	if err := unixsocket.Check(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if conn, err := dial(ctx, database, path); err == nil {
		_ = conn.Close()
		return fmt.Errorf("another process listens on %s", path)
	}
	dir, err := atomicfile.OpenDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Remove(filepath.Base(path)), dir.Close())
}

// dial connects to the socket of the database, at path. Nothing is sent to a process of
// a user who is not trusted.
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
