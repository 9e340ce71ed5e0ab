// Package server runs the listeners so that every failure on the wire is status 400
// with an Error as JSON (C1.3), including requests that net/http refuses before any handler
// runs. A request passes through the connection, which replaces net/http's own error
// responses, through net/http, and through the outermost handler, which notifies the
// connection whether a response is the handler's or net/http's.
//
// The files of this package, each of which depends only on files after it:
//
//	serve.go                                   start and shutdown of the server
//	listener.go, tls.go                        new connections
//	http2.go, http2errors.go, http2frames.go   a connection of HTTP/2
//	handler.go                                 the outermost handler
//	close.go, park.go, conn.go, framing.go     a connection of HTTP/1, which net/http gets with its first byte
//	accepted.go                                a connection of either, and its last response
//	errors.go, header.go                       error responses, and the fields of a request that they depend on
//	server.go, limit.go, stats.go              configuration, limits and counters
package server

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a [Server]. All durations must be positive.
type Config struct {
	// Handler handles the requests. Their contexts end after RequestTimeout. In
	// HTTP/1 they do not end when the client closes its half of the connection: it may still wait
	// for the response. A handler that responds before it has read the complete body
	// should set Content-Length; otherwise the connection closes after the response.
	Handler http.Handler
	// TLS, if not nil, makes the server use TLS, with HTTP/1 and HTTP/2. It needs
	// certificates; protocols are added to NextProtos.
	TLS *tls.Config
	// Logger gets a line for each error response of the server itself, and the
	// messages of net/http at level warn. It is required.
	Logger *slog.Logger
	// HeaderTimeout is the time for a header, from its first byte or the start of
	// the connection.
	HeaderTimeout time.Duration
	// RequestTimeout is the time limit for a request. After it, reading the body
	// fails with [os.ErrDeadlineExceeded].
	RequestTimeout time.Duration
	// IdleTimeout is how long a connection is kept open between requests.
	IdleTimeout time.Duration
	// ShutdownTimeout is the time for requests in progress at a shutdown. After a tenth of
	// it, reading a body fails with a [models.Error] of CodeUnavailable: a client that is
	// silent must not delay the shutdown.
	ShutdownTimeout time.Duration
	// CORSHeader returns the CORS header fields of the server's own error responses
	// to a request from origin (C3.19), which is empty if the request has none or
	// several. Nil: CORS is off.
	CORSHeader func(origin string) http.Header
	// MaxConnections bounds the open connections; 0 means 10,000. Connections beyond
	// it get an Error of CodeUnavailable, up to MaxConnections/8 at a time; further
	// ones wait to be accepted.
	//
	// One in a hundred, but at least one, may use HTTP/2, with up to 100 requests at
	// a time; the others are offered HTTP/1.1 only.
	MaxConnections int
}

// A Server serves HTTP/1, and over TLS also HTTP/2.
type Server struct {
	config Config
	http1  *http.Server
	http2  *http.Server // of connections with TLS

	linger    time.Duration // of a connection after the last response
	parkAfter time.Duration // of an idle connection

	leaving    atomic.Bool // Leave was called
	limit      connLimit
	counters   counters
	background sync.WaitGroup  // goroutines that net/http does not wait for
	draining   context.Context // done when the shutdown begins
	startDrain context.CancelFunc
	bodyTime   context.Context // done when bodies must be complete, at a shutdown
	endBodies  context.CancelFunc
	forced     context.Context // done when the remaining connections are closed
	forceClose context.CancelFunc
}

// Stats returns the statistics since the server was created.
func (s *Server) Stats() Stats {
	return Stats{
		Open: len(s.limit.regular), Limit: s.config.MaxConnections,
		Accepted: s.counters.accepted.Load(), TurnedAway: s.counters.turnedAway.Load(),
		Refused: &s.counters.refused,
	}
}
