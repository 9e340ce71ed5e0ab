package app

import (
	"log/slog"

	"plantstore/internal/apidocs"
	"plantstore/internal/ratelimit"
	"plantstore/internal/server"
	"plantstore/routes"
	"plantstore/storage"
)

func (a *App) newServer() error {
	c := a.config
	options := routes.Options{
		Store: a.store, Verify: a.verifier.Verify, NoPage: !c.Docs,
		Observe: a.observer.Request, Logger: a.logger, MaxBodyBytes: c.MaxBodyBytes, Origins: c.CORSOrigins,
		NoToken: a.verifier.CountMissing,
	}
	if !c.DescribedByHost(a.listeners.address(), a.options.Ephemeral != (storage.Location{})) {
		options.BaseURL = a.BaseURL()
	}
	if c.RateLimit.Requests > 0 {
		options.RateLimit = ratelimit.New(c.RateLimit)
	}
	if a.requests != nil {
		options.Logger = slog.New(slog.NewMultiHandler(a.logger.Handler(), a.requests))
	}
	handler, err := routes.New(options)
	if c.Faults {
		handler, err = withFaults(options, c, a.observer.Fault, a.verifier.Accepts)
	}
	if err != nil {
		return err
	}
	a.server = server.New(server.Config{
		Handler:         a.requests.Wrap(handler, apidocs.PagePath, server.HeaderKey{}),
		TLS:             a.tls,
		CORS:            options.Origins.Header(""),
		Logger:          options.Logger,
		Refused:         a.observer.Refused,
		KeepHeaders:     a.requests != nil,
		MaxConnections:  c.MaxConnections,
		RequestTimeout:  c.RequestTimeout,
		ShutdownTimeout: c.ShutdownTimeout,
	})
	return nil
}
