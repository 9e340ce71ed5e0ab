package app

import (
	"cmp"

	"plantstore/internal/apidocs"
	"plantstore/internal/auth"
	"plantstore/internal/config"
	"plantstore/internal/ratelimit"
	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/models"
	"plantstore/routes"
)

// The scope and the rate that the errors 403 and 429 on demand name if JWT_SCOPE or RATE_LIMIT
// is not set.
const (
	exampleScope = "plants:create"
	exampleLimit = "100/s"
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
		Observe: a.observer.Request, Faults: a.faults(), Logger: a.logger, Limits: PlantLimits(c), Origins: c.CORSOrigins,
		NoToken: a.verifier.CountMissing,
	}
	if c.RateLimit.Requests > 0 {
		options.RateLimit = ratelimit.New(c.RateLimit)
	}
	a.server = server.New(server.Config{
		Handler:         routes.New(options),
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

// faults returns the settings of faults on demand, nil if they are off.
func (a *App) faults() *middleware.FaultOptions {
	if !a.config.Faults {
		return nil
	}
	return &middleware.FaultOptions{
		Forbidden: auth.MissingScope(cmp.Or(a.config.JWTScope, exampleScope)),
		RateLimit: cmp.Or(a.config.RateLimit.String(), exampleLimit),
		Refusal:   server.Refusal,
	}
}
