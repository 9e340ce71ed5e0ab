// Package control connects commands to a running server, because only the server can open the
// database. The server listens on a Unix socket next to the database. Only the user of the server can
// open the socket.
//
//	GET  /info        base URL of the server
//	GET  /ready       {} or why the server is not ready
//	POST /reset       resets a server with --ephemeral to its seed
//	GET  /requests    the kept requests after the number of ?after=, for which it waits ?wait=
//	GET  /plants      the plants, from the id of ?from= on, with ?descending=true downwards
//	GET  /plants/ID   a plant
//	GET  /count       the number of plants
//	GET  /snapshot    a copy of the database
//	POST /plants      creates the plants of the body, in JSON Lines
//
// Responses are JSON Lines, except for /snapshot. A line is a value, or an Error with
// a code of [models.Code]. A create has a line for each plant: {} or an Error. Any other Error is the last
// line. An incomplete response ends without the last chunk of its chunked encoding, so that the
// client detects it.
package control

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
