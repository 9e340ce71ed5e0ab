package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"plantstore/internal/admin"
	"plantstore/internal/auth"
	"plantstore/internal/backlog"
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

// watched is what the admin listener tells of.
type watched struct {
	store    storage.Store
	requests *meter.Requests
	server   *server.Server
	tokens   *auth.Verifier
	log      *backlog.Writer
	secure   certificates
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
			Server: w.server.Stats, Tokens: w.tokens.CacheStats, LostLines: w.log.Dropped, CertificateExpires: w.secure.Expires,
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
