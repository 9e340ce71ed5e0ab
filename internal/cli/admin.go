package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"plantstore/internal/admin"
	"plantstore/internal/auth"
	"plantstore/internal/config"
	"plantstore/internal/meter"
	"plantstore/internal/server"
	"plantstore/storage"
)

// The limits of the admin listener, which few ask and none with a body. A profile
// takes as long as it is told to, 30 seconds if it is not.
const (
	adminHeaderTimeout   = 5 * time.Second
	adminRequestTimeout  = 2 * time.Minute
	adminIdleTimeout     = 2 * time.Minute
	adminShutdownTimeout = time.Second
	adminMaxConnections  = 64
)

// listeners are what a server listens on.
type listeners struct {
	clients net.Listener
	admin   net.Listener // nil if ADMIN_ADDR is off
}

// listenAll opens all of them, or none. If several cannot be had, the error names
// them all, so that nobody has to start a second server in vain twice.
func listenAll(ctx context.Context, c *config.Config) (l listeners, err error) {
	clients, clientsErr := listen(ctx, c.Addr, "--addr or ADDR")
	l.clients = clients
	var adminErr error
	if c.AdminAddr != "" {
		l.admin, adminErr = listen(ctx, c.AdminAddr, "--admin-addr or ADMIN_ADDR, or off for no probes and metrics")
	}
	if err := errors.Join(clientsErr, adminErr); err != nil {
		l.close()
		return listeners{}, err
	}
	return l, nil
}

// close closes them again, if they were served.
func (l listeners) close() {
	for _, listener := range []net.Listener{l.clients, l.admin} {
		if listener != nil {
			_ = listener.Close()
		}
	}
}

// adminURL returns where the admin listener is reached, empty if there is none.
func (l listeners) adminURL() string {
	if l.admin == nil {
		return ""
	}
	return reachable(l.admin.Addr().String())
}

// watched is what the admin listener tells of.
type watched struct {
	store    storage.Store
	requests *meter.Requests
	server   *server.Server
	tokens   *auth.Verifier
}

// startAdmin serves the admin listener, if there is one, until the returned
// function is called, which is after stopping is done: a server that stops says so
// for as long as it answers clients.
func startAdmin(stopping context.Context, p *Process, c *config.Config, l net.Listener, w watched, logger *slog.Logger) (stop func()) {
	if l == nil {
		return func() {}
	}
	logger = logger.With("listener", "admin")
	s := server.New(server.Config{
		Handler: admin.New(admin.Options{
			Version: p.Version.Release, Store: w.store, Requests: w.requests,
			Server: w.server.Stats, Tokens: w.tokens.CacheStats,
			Stopping: stopping, Logger: logger, Pprof: c.Pprof,
		}),
		Logger:          logger,
		MaxConnections:  adminMaxConnections,
		HeaderTimeout:   adminHeaderTimeout,
		RequestTimeout:  adminRequestTimeout,
		IdleTimeout:     adminIdleTimeout,
		ShutdownTimeout: adminShutdownTimeout,
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(stopping))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Serve(ctx, l); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			logger.Error("the admin listener failed: there are no probes and metrics any more", "cause", err.Error())
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
