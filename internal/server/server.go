// Package server serves clients with net/http's server. Every failure on the wire is status 400
// with an Error as JSON (C1.3). net/http refuses some requests before any handler runs, so the
// connection replaces net/http's own responses.
//
// A request passes through listener.go, conn.go, net/http and handler.go.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"plantstore/models"
)

const (
	maxHeaderBytes = 16 << 10               // the request line and the header fields together
	maxFields      = 100                    // header fields
	maxLines       = 2 * maxFields          // in a part of a header: folded fields have several
	netHTTPSlack   = 4 << 10                // net/http adds it to its own limit of a header
	idleTime       = 2 * time.Minute        // between requests on a connection
	responseTime   = 5 * time.Second        // for the response to a body that was too slow
	leaveTime      = 100 * time.Millisecond // in which a shutdown still handles requests that were sent before
	drainTime      = 5 * time.Second        // for reading after the last response, at least
	lastDrainTime  = 500 * time.Millisecond // the same during a shutdown
	maxDrained     = 64 << 20               // bytes read after the last response
	sendBuffer     = 64 << 10               // bytes of responses that the kernel keeps for a client; it doubles them
)

// Config configures a [Server]. Only TLS, HeaderTimeout, CORS and MaxConnections are optional.
type Config struct {
	// Handler handles the requests. Their contexts end after RequestTimeout, or when they are cut
	// off at a shutdown, but not when the client closes its half of the connection: it may still
	// wait for the response. The status of a response must not be above 400.
	Handler http.Handler
	// TLS, if not nil, makes the server use TLS.
	TLS *tls.Config
	// Logger gets messages of net/http, and a line for each TLS handshake that fails.
	Logger *slog.Logger
	// HeaderTimeout is the time limit for a TLS handshake, and for a header; 0 means 5 s.
	HeaderTimeout time.Duration
	// RequestTimeout is the time limit for a request. After it, reading the body fails with
	// [os.ErrDeadlineExceeded].
	RequestTimeout time.Duration
	// ShutdownTimeout is the time for requests in progress at a shutdown.
	ShutdownTimeout time.Duration
	// Refused is called for each error response of the server itself, with the address of the client.
	Refused func(e *models.Error, remote, requestID string)
	// CORS are the CORS header fields of the error responses of the server itself (C3.19).
	CORS http.Header
	// MaxConnections bounds the open connections; 0 means 10,000. Requests on connections
	// beyond it get an Error of CodeUnavailable, up to MaxConnections/8 at a time; further
	// connections wait to be accepted.
	MaxConnections int
}

// A Server serves HTTP/1.1 and HTTP/1.0.
type Server struct {
	config         Config
	http           *http.Server
	regular, extra chan struct{} // slots of connections within and beyond MaxConnections
	closeField     []string      // the value of Connection; not changed
	accepted       atomic.Uint64
	turnedAway     atomic.Uint64
	slowHandshakes atomic.Uint64

	leaving    atomic.Bool     // connections close after their next response
	draining   context.Context // done when connections without a request are closed
	startDrain context.CancelFunc
	forced     context.Context // done when all connections are closed; the parent of those of requests
	force      context.CancelFunc
}

// New returns a server that is not serving yet.
func New(config Config) *Server {
	config.MaxConnections = cmp.Or(config.MaxConnections, 10_000)
	config.HeaderTimeout = cmp.Or(config.HeaderTimeout, 5*time.Second)
	if config.TLS != nil {
		config.TLS = config.TLS.Clone()
		config.TLS.NextProtos = append(slices.Clone(config.TLS.NextProtos), "http/1.1", "http/1.0") // ALPN (RFC 7301)
	}
	s := &Server{config: config, closeField: []string{"close"}}
	s.regular = make(chan struct{}, config.MaxConnections)
	s.extra = make(chan struct{}, max(1, config.MaxConnections/8))
	s.draining, s.startDrain = context.WithCancel(context.Background())
	s.forced, s.force = context.WithCancel(context.Background())
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	s.http = &http.Server{
		Handler:                      http.HandlerFunc(s.handle),
		Protocols:                    &protocols,
		DisableGeneralOptionsHandler: true, // it responds to OPTIONS *
		ReadHeaderTimeout:            config.HeaderTimeout,
		WriteTimeout:                 config.RequestTimeout + responseTime,
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHeaderBytes - netHTTPSlack,
		ErrorLog:                     slog.NewLogLogger(config.Logger.Handler(), slog.LevelWarn),
		ConnState:                    changed,
		ConnContext:                  func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	return s
}

// Serve serves ln until ctx is done. Then it closes ln and the idle connections, and lets
// requests in progress finish. After ShutdownTimeout it closes their connections. It returns an
// error if accepting connections fails. Serve must be called only once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) (err error) {
	s.checkFiles()
	failed := make(chan error, 1)
	go func() { failed <- s.http.Serve(&listener{ln, s}) }()
	select {
	case failure := <-failed:
		err = fmt.Errorf("accepting connections: %w", failure)
	case <-ctx.Done():
	}
	s.Leave()
	time.Sleep(leaveTime)
	s.http.SetKeepAlivesEnabled(false)
	s.startDrain()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ShutdownTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, s.force)() // Shutdown waits for closing idle TLS connections, too
	if errors.Is(s.http.Shutdown(ctx), context.DeadlineExceeded) {
		s.config.Logger.Warn("shutdown timeout: closing connections with requests in progress",
			"connections", len(s.regular), "timeout", s.config.ShutdownTimeout.String())
		s.force()
		_ = s.http.Close() // the listener is closed already
	}
	return err
}

// Leave makes every connection close after its next response, so that clients leave for another
// server. It may be called before the ctx of [Server.Serve] is done.
func (s *Server) Leave() { s.leaving.Store(true) }

// Stats are the statistics of a [Server].
type Stats struct {
	Open, Limit          int    // connections within Limit, which is Config.MaxConnections
	Accepted, TurnedAway uint64 // connections that were accepted, and those beyond the limit among them
	SlowHandshakes       uint64 // TLS handshakes that did not end in time
}

// Stats returns the statistics since the server was created.
func (s *Server) Stats() Stats {
	return Stats{len(s.regular), cap(s.regular), s.accepted.Load(), s.turnedAway.Load(), s.slowHandshakes.Load()}
}
