package app

import (
	"context"
	"log/slog"
	"net/http"

	"plantstore/internal/apidocs"
	"plantstore/internal/faults"
	"plantstore/internal/logging"
	"plantstore/internal/ratelimit"
	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/models"
	"plantstore/routes"
)

func (a *App) newServer() error {
	c := a.config
	options := routes.Options{
		Store: a.store, Verify: a.verifier.Verify, NoPage: !c.Docs,
		Observe: a.observe(), MaxBodyBytes: c.MaxBodyBytes, Origins: c.CORSOrigins,
		NoToken: a.verifier.CountMissing,
	}
	if !c.DescribedByHost(a.address(), a.ephemeral()) {
		options.BaseURL = a.BaseURL()
	}
	if c.RateLimit.Requests > 0 {
		options.RateLimit = ratelimit.New(c.RateLimit)
	}
	handler, err := a.newHandler(options)
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

func (a *App) newHandler(options routes.Options) (http.Handler, error) {
	if a.config.Faults {
		return faults.New(options, a.verifier.Accepts, a.config.JWTScope)
	}
	return routes.New(options)
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
