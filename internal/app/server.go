package app

import (
	"plantstore/internal/apidocs"
	"plantstore/internal/config"
	"plantstore/internal/ratelimit"
	"plantstore/internal/server"
	"plantstore/models"
	"plantstore/routes"
)

// PlantLimits returns the limits of the plants that are accepted.
func PlantLimits(c *config.Config) models.Limits { return models.Limits{BodyBytes: c.MaxBodyBytes} }

// newServer builds the server for clients.
func (a *App) newServer() error {
	c := a.config
	description, err := apidocs.New(a.BaseURL())
	if err != nil {
		return err
	}
	var page *apidocs.Page
	if c.Docs {
		page = apidocs.NewPage()
	}
	options := routes.Options{
		Store: a.store, Verify: a.verifier.Verify, Description: description, Page: page,
		Observe: a.observer.Request, Logger: a.logger, Limits: PlantLimits(c), Origins: c.CORSOrigins,
		NoToken: a.verifier.CountMissing,
	}
	if c.RateLimit.Requests > 0 {
		options.RateLimit = ratelimit.New(c.RateLimit)
	}
	handler := routes.New(options)
	if c.Faults {
		handler = withFaults(options, c, a.observer.Fault, a.verifier.Accepts)
	}
	a.server = server.New(server.Config{
		Handler:         handler,
		TLS:             a.tls,
		CORS:            options.Origins.Header(""),
		Logger:          a.logger,
		Refused:         a.observer.Refused,
		MaxConnections:  c.MaxConnections,
		RequestTimeout:  c.RequestTimeout,
		ShutdownTimeout: c.ShutdownTimeout,
	})
	return nil
}
