package app

import (
	"net"

	"plantstore/internal/apidocs"
	"plantstore/internal/ratelimit"
	"plantstore/internal/server"
	"plantstore/models"
	"plantstore/routes"
	"plantstore/storage"
)

func (a *App) newServer() error {
	c := a.config
	description, err := apidocs.New(a.BaseURL())
	if err != nil {
		return err
	}
	description.ByHost = c.DescribedByHost(a.listeners.address(), a.options.Ephemeral != (storage.Location{}))
	var page *apidocs.Page
	if c.Docs {
		page = apidocs.NewPage()
	}
	options := routes.Options{
		Store: a.store, Verify: a.verifier.Verify, Description: description, Page: page,
		Observe: a.observer.Request, Logger: a.logger, MaxBodyBytes: c.MaxBodyBytes, Origins: c.CORSOrigins,
		NoToken: a.verifier.CountMissing,
	}
	if c.RateLimit.Requests > 0 {
		options.RateLimit = ratelimit.New(c.RateLimit)
	}
	if a.requests != nil {
		options.Logger = a.requests.Logger(a.logger)
	}
	handler := routes.New(options)
	if c.Faults {
		handler = withFaults(options, c, a.observer.Fault, a.verifier.Accepts)
	}
	if a.requests != nil {
		handler = a.requests.Handler(handler, apidocs.PagePath, server.ReceivedHeader)
	}
	a.server = server.New(server.Config{
		Handler:         handler,
		TLS:             a.tls,
		CORS:            options.Origins.Header(""),
		Logger:          a.logger,
		Refused:         a.refused,
		KeepHeaders:     a.requests != nil,
		MaxConnections:  c.MaxConnections,
		RequestTimeout:  c.RequestTimeout,
		ShutdownTimeout: c.ShutdownTimeout,
	})
	return nil
}

// refused observes an error response of the server itself.
func (a *App) refused(e *models.Error, requestID string, remote net.Addr) {
	a.observer.Refused(e.Code)
	a.requests.Refused(e, requestID, remote)
}
