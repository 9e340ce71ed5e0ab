package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"plantstore/internal/admin"
	"plantstore/storage"
)

// The time limits of the admin listener: for a header and between requests, for a response
// (a profile takes long), and for requests in progress at a shutdown.
const (
	adminTimeout         = 5 * time.Second
	adminWriteTimeout    = 2 * time.Minute
	adminShutdownTimeout = time.Second
)

// startAdmin serves the admin listener, if there is one, until [App.Close].
func (a *App) startAdmin() {
	if a.listeners.admin == nil {
		return
	}
	logger := a.logger.With("listener", "admin")
	ctx, cancel := context.WithCancel(context.Background())
	s := http.Server{
		BaseContext: func(net.Listener) context.Context { return ctx },
		Handler: admin.New(admin.Options{
			Version: a.options.Version, Observer: a.observer,
			Store: a.store.Stats, Server: a.server.Stats, Tokens: a.verifier.Stats, CertificateExpires: a.expires, Emptied: a.emptied,
			Problem: a.problem, Reset: a.reset, Requests: a.requests, Logger: logger, Pprof: a.config.Pprof,
		}),
		DisableGeneralOptionsHandler: true, // it does not check Host

		ReadTimeout:    adminTimeout,
		IdleTimeout:    adminTimeout,
		WriteTimeout:   adminWriteTimeout,
		MaxHeaderBytes: 16 << 10,
		ErrorLog:       slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	s.RegisterOnShutdown(cancel) // of requests that wait
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(a.listeners.admin); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("admin listener failed", "cause", err.Error(), "hint", "restart the server: it has no probes and metrics")
		}
	})
	a.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), adminShutdownTimeout)
		defer cancel()
		if s.Shutdown(ctx) != nil { // also if the listener has failed
			_ = s.Close()
		}
		serving.Wait()
		return nil
	})
}

// problem returns why the server should not get requests, "" if it should, and the cause for the log.
// While it is shutting down, requests are still served or drained.
func (a *App) problem() (problem string, cause error) {
	ready, fault := a.store.Ready(), a.store.Fault()
	switch {
	case errors.Is(fault, storage.ErrCorrupt):
		return "the database is corrupt: the store stopped itself after a fault, and the server exits", ready
	case fault != nil:
		return "the disk or the database file has failed: the store stopped itself after a fault, and the server exits", ready
	case a.leaving.Err() != nil:
		return "the server is shutting down", ready
	case errors.Is(ready, storage.ErrNoSpace):
		return "no space is left for the database", ready
	case ready != nil && a.storage.Path == "":
		return "the engine is unreachable or takes no writes", ready
	case ready != nil:
		return "the last commit has failed", ready
	case a.verifier.Ready() != nil:
		return "no usable keys of the issuer", a.verifier.Ready()
	}
	return "", nil
}
