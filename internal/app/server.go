package app

import (
	"cmp"
	"context"
	"log/slog"

	"plantstore/internal/apidocs"
	"plantstore/internal/faults"
	"plantstore/internal/logging"
	"plantstore/internal/ratelimit"
	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/middleware/auth"
	"plantstore/models"
	"plantstore/routes"
)

// The scope and the rate that the errors 403 and 429 on demand name if JWT_SCOPE or RATE_LIMIT
// is not set.
const (
	exampleScope = "plants:create"
	exampleRate  = "100/s"
)

func (a *App) newServer() error {
	c := a.config
	options := routes.Options{
		Store: a.store, Verify: a.verifier.Verify, NoPage: !c.Docs,
		Observe: a.observe(), MaxBodyBytes: c.MaxBodyBytes, Origins: c.CORSOrigins,
		NoToken: a.verifier.CountMissing,
	}
	if !c.DescribedByHost(a.listeners.address(), a.ephemeral()) {
		options.BaseURL = a.BaseURL()
	}
	if c.RateLimit.Requests > 0 {
		options.RateLimit = ratelimit.New(c.RateLimit)
	}
	handler, err := routes.New(options)
	if c.Faults {
		handler, err = faults.New(options, faults.Options{
			Accepts: a.verifier.Accepts, Forbidden: auth.MissingScope(cmp.Or(c.JWTScope, exampleScope)), Rate: exampleRate,
		})
	}
	if err != nil {
		return err
	}
	if a.requests != nil {
		handler = a.requests.Wrap(handler, apidocs.PagePath)
	}
	a.server = server.New(server.Config{
		Handler: handler,
		TLS:     a.tls,
		CORS:    options.Origins.Header(""),
		Logger:  a.logger,
		Refused: func(e *models.Error, remote, requestID string) {
			options.Observe(context.Background(), middleware.NewRefusal(e, remote, requestID))
		},
		MaxConnections:  c.MaxConnections,
		RequestTimeout:  c.RequestTimeout,
		ShutdownTimeout: c.ShutdownTimeout,
	})
	return nil
}

// observe returns what gets the outcome of each request: the log, the metrics and the kept requests.
func (a *App) observe() middleware.Observe {
	log := middleware.AccessLog(a.logger)
	if a.format != logging.JSON && logging.IsTerminal(a.inputs.Stderr) && a.config.LogLevel > slog.LevelDebug {
		log = logging.Requests(a.buffer, a.config.LogLevel, a.format == logging.Color)
	}
	return func(ctx context.Context, o *middleware.Outcome) {
		log(ctx, o)
		a.observer.Request(o)
		if o.Name == middleware.Created {
			a.creates.Add(o.Subject, o.PlantID)
		}
		if a.requests != nil {
			a.requests.Observe(ctx, o)
		}
	}
}
