// Package server runs the listeners so that every failure on the wire is status 400
// with an Error as JSON (C1.3), including requests that net/http refuses before any handler
// runs. A request passes through the connection, which replaces net/http's own error
// responses, through net/http, and through the outermost handler, which notifies the
// connection whether a response is the handler's or net/http's.
//
// The files of this package:
//
//	listener.go, limit.go, tls.go, park.go     accepted connections, until net/http gets them with their first byte
//	conn.go, framing.go, header.go             a connection of HTTP/1
//	http2.go, http2frames.go, http2errors.go   a connection of HTTP/2
//	handler.go, fault.go                       the outermost handler, and faults on demand
//	errors.go, reject.go, linger.go            the last response of a connection
//	stats.go                                   counters
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
	"sync"
	"sync/atomic"
	"time"
)

const (
	// netHTTPSlack is the number of bytes that net/http adds to its own limit of a header.
	netHTTPSlack = 4 << 10
	// responseTime is the time for the response to a body that was too slow.
	responseTime = 5 * time.Second
	// bodyShare is the part of ShutdownTimeout in which bodies must be complete, as a divisor.
	bodyShare = 10
)

// Config configures a [Server]. All durations must be positive.
type Config struct {
	// Handler handles the requests. Their contexts end after RequestTimeout. In
	// HTTP/1 they do not end when the client closes its half of the connection: it may still wait
	// for the response. A handler that responds before it has read the complete body
	// should set Content-Length; otherwise the connection closes after the response.
	Handler http.Handler
	// TLS, if not nil, makes the server speak TLS, with HTTP/1 and HTTP/2. It needs
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
	http2  *http.Server // nil without TLS
	linger lingerLimits

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

// New returns a server that is not serving yet.
func New(config Config) *Server {
	config.MaxConnections = cmp.Or(config.MaxConnections, defaultMaxConnections)
	s := &Server{config: config, linger: defaultLinger(), parkAfter: defaultParkAfter, limit: newConnLimit(config.MaxConnections)}
	s.draining, s.startDrain = context.WithCancel(context.Background())
	s.bodyTime, s.endBodies = context.WithCancel(context.Background())
	s.forced, s.forceClose = context.WithCancel(context.Background())
	s.http1 = s.newHTTPServer(s.handle, maxHeaderBytes-netHTTPSlack)
	s.http1.BaseContext = func(net.Listener) context.Context { return s.forced }
	s.http1.ConnState = endRequest
	s.http1.Protocols.SetHTTP1(true)
	if config.TLS != nil {
		s.config.TLS = withProtocols(config.TLS)
		s.http2 = s.newHTTPServer(s.handleHTTP2, maxHeaderBytes)
		s.http2.Protocols.SetUnencryptedHTTP2(true) // TLS ends below it
		s.http2.HTTP2 = s.http2Config()
	}
	return s
}

// newHTTPServer returns a server with the settings of both versions of HTTP.
func (s *Server) newHTTPServer(handler http.HandlerFunc, headerBytes int) *http.Server {
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            s.config.HeaderTimeout,
		ReadTimeout:                  s.config.RequestTimeout,
		WriteTimeout:                 s.config.RequestTimeout + responseTime,
		IdleTimeout:                  s.config.IdleTimeout,
		MaxHeaderBytes:               headerBytes,
		ErrorLog:                     slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelWarn),
		ConnContext:                  withConn,
		Protocols:                    new(http.Protocols),
	}
}

// Serve serves the listeners until ctx is done. Then it closes them and the idle
// connections, and lets requests in progress finish. If they take longer than
// ShutdownTimeout, it returns an error that wraps [context.DeadlineExceeded]. It
// returns an error as well if a listener fails. The limits are for all listeners
// together. Serve must be called only once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	failures := make(chan error, len(listeners)) // of accepting connections
	for _, ln := range listeners {
		s.background.Go(func() {
			failures <- s.http1.Serve(&listener{ln, s})
		})
	}
	var err error
	select {
	case failure := <-failures:
		err = fmt.Errorf("accepting connections: %w", failure)
	case <-ctx.Done():
	}
	s.startDrain()
	return errors.Join(err, s.shutdown(ctx))
}

// Leave makes every connection of HTTP/1 close after its next response, so that clients
// connect again, to another server perhaps. It may be called before the ctx of
// [Server.Serve] is done. In HTTP/2, clients learn of the shutdown by GOAWAY when it begins.
func (s *Server) Leave() { s.leaving.Store(true) }

// shutdown lets requests in progress finish, for at most ShutdownTimeout, and waits for all
// goroutines.
func (s *Server) shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ShutdownTimeout)
	defer cancel()
	defer s.forceClose()
	defer s.endBodies()
	defer time.AfterFunc(s.config.ShutdownTimeout/bodyShare, s.endBodies).Stop()

	err := s.drain(ctx)
	if err != nil {
		err = fmt.Errorf("requests still in flight after %v were cut off: %w", s.config.ShutdownTimeout, err)
	}
	defer context.AfterFunc(ctx, s.forceClose)()
	s.background.Wait()
	return err
}

// drain waits for requests in progress until ctx is done, and closes the connections
// of the rest.
func (s *Server) drain(ctx context.Context) error {
	servers := []*http.Server{s.http1}
	if s.http2 != nil {
		servers = append(servers, s.http2)
	}
	errs := make([]error, len(servers))
	var draining sync.WaitGroup
	for i, server := range servers {
		draining.Go(func() {
			if errs[i] = server.Shutdown(ctx); errs[i] != nil {
				s.forceClose()
				_ = server.Close() // its error is the listener's, which Shutdown has returned
			}
		})
	}
	draining.Wait()
	return errors.Join(errs...)
}
