package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"plantstore/internal/admin"
	"plantstore/internal/server"
)

// adminRequestTimeout is the time limit for a request to the admin listener, and for a profile.
const adminRequestTimeout = 2 * time.Minute

// startAdmin serves the admin listener, if there is one, until [App.Close]. After leaving is done,
// /readyz reports the shutdown, while requests of clients are still served or drained.
func (a *App) startAdmin(leaving context.Context) {
	if a.listeners.admin == nil {
		return
	}
	logger := a.logger.With("listener", "admin")
	s := server.New(server.Config{
		Handler: admin.New(admin.Options{
			Version: a.options.Version, Store: a.store, Observer: a.observer,
			Server: a.server.Stats, Tokens: a.verifier.Stats, CertificateExpires: a.expires,
			Reset: a.reset, Leaving: leaving, Logger: logger, Pprof: a.config.Pprof,
		}),
		Logger:          logger,
		MaxConnections:  64, // it has few clients, whose requests have no bodies
		HeaderTimeout:   headerTimeout,
		RequestTimeout:  adminRequestTimeout,
		IdleTimeout:     idleTimeout,
		ShutdownTimeout: time.Second,
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(leaving))
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(ctx, a.listeners.admin); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			logger.Error("admin listener failed", "cause", err.Error(), "hint", "restart the server: it has no probes and metrics")
		}
	})
	a.onClose(func() error {
		cancel()
		serving.Wait()
		return nil
	})
}
