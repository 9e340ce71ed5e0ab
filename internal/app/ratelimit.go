package app

import (
	"cmp"

	"plantstore/internal/ratelimit"
	"plantstore/routes"
)

// limitRates adds the configured rate limits to the options of the routes.
func (a *App) limitRates(o *routes.Options) {
	c := a.config
	if c.RateLimit.Requests == 0 {
		return
	}
	burst := cmp.Or(c.RateLimitBurst, c.RateLimit.Requests)
	if c.RateLimitBy.Address {
		a.addressLimit = ratelimit.ByAddress(c.RateLimit, burst)
		o.AddressLimit = a.addressLimit
	}
	if c.RateLimitBy.Subject {
		a.subjectLimit = ratelimit.BySubject(c.RateLimit, burst)
		o.SubjectLimit = a.subjectLimit
	}
}

// rateLimited returns the number of refused requests of addresses and of subjects.
func (a *App) rateLimited() (address, subject uint64) {
	return a.addressLimit.Refused(), a.subjectLimit.Refused()
}
