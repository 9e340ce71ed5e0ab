package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"plantstore/internal/admin"
)

// The time limits of the admin listener: for a header and between requests, for a response
// (a profile takes long), and for requests in progress at a shutdown.
const (
	adminTimeout         = 5 * time.Second
	adminWriteTimeout    = 2 * time.Minute
	adminShutdownTimeout = time.Second
)

// startAdmin serves the admin listener, if there is one, until [App.Close]. After leaving is done,
// /readyz reports the shutdown, while requests of clients are still served or drained.
func (a *App) startAdmin(leaving context.Context) {
	if a.listeners.admin == nil {
		return
	}
	logger := a.logger.With("listener", "admin")
	s := http.Server{
		Handler: admin.New(admin.Options{
			Version: a.options.Version, Store: a.store, Observer: a.observer,
			Server: a.server.Stats, Tokens: a.verifier.Stats, CertificateExpires: a.expires,
			Reset: a.reset, Leaving: leaving, Logger: logger, Pprof: a.config.Pprof,
		}),
		DisableGeneralOptionsHandler: true, // it does not check Host

		ReadTimeout:    adminTimeout,
		IdleTimeout:    adminTimeout,
		WriteTimeout:   adminWriteTimeout,
		MaxHeaderBytes: 32 << 10,
		ErrorLog:       slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(a.listeners.admin); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("admin listener failed", "cause", err.Error(), "hint", "restart the server: it has no probes and metrics")
		}
	})
	a.onClose(func() error { //nolint:contextcheck // it is called when the context is done
		ctx, cancel := context.WithTimeout(context.Background(), adminShutdownTimeout)
		defer cancel()
		if s.Shutdown(ctx) != nil { // also if the listener has failed
			_ = s.Close()
		}
		serving.Wait()
		return nil
	})
}
