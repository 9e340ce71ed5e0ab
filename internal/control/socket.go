// Package control connects commands to a running server, which has the database open exclusively.
// The server listens on a Unix socket next to the database, which only its own user may open. A
// [Client] is the engine of a [storage.Store].
//
//	GET  /info        base URL of the server
//	GET  /ready       {} or why the server should not get requests
//	POST /reset       puts a server with --ephemeral back to its seed
//	GET  /requests    the kept requests after the number of ?after=, for which it waits ?wait=
//	GET  /plants      the plants, from the id of ?from= on
//	GET  /plants/ID   a plant
//	GET  /count       the number of plants
//	GET  /snapshot    a copy of the database
//	POST /plants      creates the plants of the body, in JSON Lines
//
// A response other than that of /requests and /snapshot is JSON Lines: values, or an Error with a code of
// [models.Code] in place of one. A create has a line for each plant: {} or an Error. After any
// other Error there are no lines. A response that is not complete ends without the last chunk of
// its chunked encoding, so that the client does not take the part for the whole.
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

// Listen creates the socket of a database. It replaces a socket that a killed server has left.
func Listen(ctx context.Context, database string) (net.Listener, error) {
	return files.Listen(ctx, SocketPath(database), socketPerm)
}
