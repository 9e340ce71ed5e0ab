package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
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

// New returns a server that is not serving yet.
func New(config Config) *Server {
	config.MaxConnections = cmp.Or(config.MaxConnections, defaultMaxConnections)
	s := &Server{config: config, linger: defaultLinger, parkAfter: defaultParkAfter, limit: newConnLimit(config.MaxConnections)}
	s.draining, s.startDrain = context.WithCancel(context.Background())
	s.bodyTime, s.endBodies = context.WithCancel(context.Background())
	s.forced, s.forceClose = context.WithCancel(context.Background())
	s.http1 = s.newHTTPServer(s.handle, maxHeaderBytes-netHTTPSlack)
	s.http1.BaseContext = func(net.Listener) context.Context { return s.forced }
	s.http1.ConnState = endRequest
	s.http1.Protocols.SetHTTP1(true)
	s.http2 = s.newHTTPServer(s.handleHTTP2, maxHeaderBytes)
	s.http2.Protocols.SetUnencryptedHTTP2(true) // its connections decrypt TLS themselves
	s.http2.HTTP2 = s.http2Config()
	if config.TLS != nil {
		s.config.TLS = withProtocols(config.TLS)
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
	var errs [2]error
	var draining sync.WaitGroup
	for i, server := range []*http.Server{s.http1, s.http2} {
		draining.Go(func() {
			if errs[i] = server.Shutdown(ctx); errs[i] != nil {
				s.forceClose()
				_ = server.Close() // its error is the listener's, which Shutdown has returned
			}
		})
	}
	draining.Wait()
	return errors.Join(errs[:]...)
}
