// Package server runs the HTTP listener so that every failure on the wire is
// status 400 with an Error as JSON (C1.3), what net/http refuses before any
// handler runs included. A request passes three things: the [net.Conn] that
// watches over the connection, net/http, and the outermost handler, which tells
// the connection when a request is in the handler's hands.
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
	"time"
)

const (
	// defaultMaxHeaderBytes bounds a header if the configuration does not.
	defaultMaxHeaderBytes = 32 << 10
	// netHTTPSlack is what net/http adds to its own limit of a header.
	netHTTPSlack = 4 << 10
	// answerTime is how much later than the last byte of a request its answer
	// may be: the answer to a body that came too slowly must still go out.
	answerTime = 5 * time.Second
)

// Config is what a [Server] is made from. All durations must be positive.
type Config struct {
	// Handler answers the requests. It is given a context that lasts at most
	// RequestTimeout and does not end when the client hangs up, for a client
	// may close its half of the connection and wait for the answer. It should
	// set Content-Length when it answers before it has read the whole body;
	// otherwise the connection is closed after the answer. When it returns it
	// must be done with request, context and writer: the next request on the
	// connection gets the same ones.
	Handler http.Handler
	// TLS, if not nil, has the server speak TLS, and HTTP/2 with clients that
	// want it. It needs certificates; NextProtos are added to.
	TLS *tls.Config
	// Logger, not nil, gets a line for each refusal. What net/http has to say,
	// such as why it cannot accept connections, goes to it at level warn.
	Logger *slog.Logger
	// HeaderTimeout is how long the header of a request may take from its
	// first byte, or from the start of the connection.
	HeaderTimeout time.Duration
	// RequestTimeout is how long a whole request may take. After it, reading
	// the body fails with [os.ErrDeadlineExceeded].
	RequestTimeout time.Duration
	// IdleTimeout is how long a connection is kept between two requests.
	IdleTimeout time.Duration
	// ShutdownTimeout is how long requests in flight may take to finish when
	// the server stops.
	ShutdownTimeout time.Duration
	// CORSHeader returns the header fields that the server's own answers to a
	// request from origin carry, so that pages may read them (C3.19); origin
	// is empty if the request names none or more than one. Nil if CORS is off.
	CORSHeader func(origin string) http.Header
	// MaxHeaderBytes bounds the request line and the header fields together;
	// less than 4 KiB counts as that. 0 means 32 KiB. They may have at most
	// 128 lines.
	MaxHeaderBytes int
	// MaxConnections bounds the connections that are open at a time. 0 means
	// 10,000. A further one gets an Error of CodeUnavailable, for which it may
	// take a second or two, and an eighth as many of those may do so at a time;
	// beyond that, connections wait to be accepted. One in a hundred of them, and
	// one at least, may speak HTTP/2, in which a connection carries up to 100
	// requests; further ones are offered HTTP/1.1 only.
	MaxConnections int
}

// A Server answers requests on its listeners: in HTTP/1.1 and HTTP/1.0, and over TLS
// in HTTP/2, too.
type Server struct {
	config Config
	http   *http.Server
	two    *http.Server  // for HTTP/2; nil without TLS
	twos   chan struct{} // holds a token for each of its connections
	linger lingerLimits

	parkAfter time.Duration // of a connection that is idle

	places    places
	counted   counted
	lingering sync.WaitGroup
	cut       context.Context // done when whatever is left is cut off
	cutOff    context.CancelFunc
}

// New returns a server that is not serving yet.
func New(config Config) *Server {
	config.MaxHeaderBytes = cmp.Or(config.MaxHeaderBytes, defaultMaxHeaderBytes)
	config.MaxConnections = cmp.Or(config.MaxConnections, defaultMaxConnections)
	s := &Server{config: config, linger: defaultLinger(), parkAfter: defaultParkAfter, places: newPlaces(config.MaxConnections)}
	s.cut, s.cutOff = context.WithCancel(context.Background())
	s.http = &http.Server{
		Handler:                      http.HandlerFunc(s.handle),
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            config.HeaderTimeout,
		ReadTimeout:                  config.RequestTimeout,
		WriteTimeout:                 config.RequestTimeout + answerTime,
		IdleTimeout:                  config.IdleTimeout,
		MaxHeaderBytes:               max(1, config.MaxHeaderBytes-netHTTPSlack),
		ErrorLog:                     slog.NewLogLogger(config.Logger.Handler(), slog.LevelWarn),
		ConnContext:                  withConn,
		ConnState:                    connState,
		Protocols:                    new(http.Protocols),
	}
	s.http.Protocols.SetHTTP1(true)
	if config.TLS != nil {
		s.two, s.twos = s.newServerTwo(), make(chan struct{}, HTTP2Connections(config.MaxConnections))
	}
	return s
}

// Serve answers requests on the listeners until ctx is done. Then it closes them and
// the idle connections, and lets requests in flight finish. It returns nil if they
// did within ShutdownTimeout, else an error that wraps
// [context.DeadlineExceeded]; and an error if accepting connections fails, on
// whichever listener. Its limits are for all of them together. Serve must be called
// once only.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	failures := make(chan error, len(listeners)) // of accepting connections
	var running sync.WaitGroup
	for _, ln := range listeners {
		running.Go(func() {
			failures <- s.accept(&listener{Listener: ln, server: s, stopping: stopping})
		})
	}
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		running.Wait()
	}()

	select {
	case failure := <-failures:
		stop()
		return errors.Join(fmt.Errorf("accepting connections: %w", failure), s.shutdown(ctx, accepting))
	case <-ctx.Done():
		return s.shutdown(ctx, accepting)
	}
}

// accept serves the connections that l accepts.
func (s *Server) accept(l *listener) error {
	if s.two == nil {
		return s.http.Serve(l)
	}
	f := newFront(l, s.config.TLS)
	s.lingering.Go(f.run)
	s.lingering.Go(func() { _ = s.two.Serve(f.two) }) // what there is to say the other one says
	return s.http.Serve(f.one)
}

// shutdown ends what is going on, in at most ShutdownTimeout from now. That
// connections are no longer accepted, accepting tells when it is closed.
func (s *Server) shutdown(ctx context.Context, accepting <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ShutdownTimeout)
	defer cancel()
	defer s.cutOff()

	err := s.finish(ctx)
	if err != nil {
		err = fmt.Errorf("requests still in flight after %v were cut off: %w", s.config.ShutdownTimeout, err)
	}
	defer context.AfterFunc(ctx, s.cutOff)()
	<-accepting
	s.lingering.Wait()
	return err
}

// finish lets requests in flight end, and cuts off those that do not until ctx is
// done.
func (s *Server) finish(ctx context.Context) error {
	servers := []*http.Server{s.http}
	if s.two != nil {
		servers = append(servers, s.two)
	}
	errs := make([]error, len(servers))
	var ending sync.WaitGroup
	for i, server := range servers {
		ending.Go(func() {
			if errs[i] = server.Shutdown(ctx); errs[i] != nil {
				s.cutOff()
				_ = server.Close() // nothing but the listener's error, which Shutdown has reported
			}
		})
	}
	ending.Wait()
	return errors.Join(errs...)
}
