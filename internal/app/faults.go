package app

import (
	"cmp"
	"context"
	"net/http"

	"plantstore/internal/config"
	"plantstore/internal/faults"
	"plantstore/middleware"
	"plantstore/middleware/auth"
	"plantstore/routes"
)

// The scope and the rate that the errors 403 and 429 on demand name if JWT_SCOPE or RATE_LIMIT
// is not set.
const (
	exampleScope = "plants:create"
	exampleLimit = "100/s"
)

// withFaults returns the handler of all routes, wrapped by that of faults on demand, which only
// requests with an accepted token can demand.
func withFaults(o routes.Options, c *config.Config, count faults.Count, accepts func(ctx context.Context, token string) bool) (http.Handler, error) {
	logger := o.Logger
	o.Store, o.Logger, o.Observe = faults.NewStore(o.Store), faults.NewLogger(logger), faults.NewObserve(o.Observe, count)
	forbidden, limited := o, o
	forbidden.Verify = func(context.Context, string) (string, error) {
		return "", auth.MissingScope(cmp.Or(c.JWTScope, exampleScope))
	}
	limited.RateLimit = faults.NoRate(cmp.Or(c.RateLimit.String(), exampleLimit))
	var handlers []http.Handler
	for _, options := range []routes.Options{o, forbidden, limited} {
		handler, err := routes.New(options)
		if err != nil {
			return nil, err
		}
		handlers = append(handlers, handler)
	}
	return faults.New(faults.Options{
		Handler:   handlers[0],
		Forbidden: handlers[1],
		Limited:   handlers[2],
		Authorized: func(header http.Header) bool {
			token, err := middleware.Token(header)
			return err == nil && accepts(context.Background(), token)
		},
		CORS: o.Origins.Header(""), Logger: logger, Count: count,
	}), nil
}
