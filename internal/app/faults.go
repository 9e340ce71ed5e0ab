package app

import (
	"cmp"

	"plantstore/internal/auth"
	"plantstore/internal/server"
	"plantstore/middleware"
)

// The scope and the rate that the errors 403 and 429 on demand name if JWT_SCOPE or RATE_LIMIT
// is not set.
const (
	exampleScope = "plants:create"
	exampleLimit = "100/s"
)

// faults returns the settings of faults on demand, nil if they are off.
func (a *App) faults() *middleware.FaultOptions {
	f := a.config.Faults
	if !f.On {
		return nil
	}
	return &middleware.FaultOptions{
		Rates:     f.Rates,
		Forbidden: auth.MissingScope(cmp.Or(a.config.JWTScope, exampleScope)),
		RateLimit: cmp.Or(a.config.RateLimit.String(), exampleLimit),
		Refuse:    server.Refuse,
	}
}
