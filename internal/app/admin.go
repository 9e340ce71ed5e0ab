package app

import (
	"context"
	"errors"
	"time"

	"plantstore/internal/admin"
	"plantstore/internal/server"
)

// The limits of the admin listener, which few ask and none with a body. A profile
// takes as long as the request says, within a bound, by default 30 seconds.
const (
	adminHeaderTimeout   = 5 * time.Second
	adminRequestTimeout  = 2 * time.Minute
	adminIdleTimeout     = 2 * time.Minute
	adminShutdownTimeout = time.Second
	adminMaxConnections  = 64
	adminLongestProfile  = adminRequestTimeout - 10*time.Second // so that there is time to send it
)

// startAdmin serves the admin listener, if there is one, until the returned function is
// called, which is after stopping is done: a server that shuts down reports that for as
// long as it responds to clients.
func (a *App) startAdmin(stopping context.Context) (stop func()) {
	if a.listeners.admin == nil {
		return func() {}
	}
	logger := a.logger.With("listener", "admin")
	s := server.New(server.Config{
		Handler: admin.New(admin.Options{
			Version: a.options.Version, Store: a.store, Requests: a.requests,
			Server: a.server.Stats, Tokens: a.keys.verifier.Stats, LostLines: a.buffer.Dropped, CertificateExpires: a.certificates.Expires,
			Stopping: stopping, Logger: logger, Pprof: a.config.Pprof, LongestProfile: adminLongestProfile,
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
		if err := s.Serve(ctx, a.listeners.admin); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			logger.Error("the admin listener failed: there are no probes and metrics any more", "cause", err.Error())
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
