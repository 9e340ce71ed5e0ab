package app

import (
	"cmp"

	"plantstore/internal/config"
	"plantstore/internal/ratelimit"
	"plantstore/routes"
)

// rateLimits are the rate limits of clients. A nil one does not exist.
type rateLimits struct {
	address, subject *ratelimit.Limiter
}

// newRateLimits returns the configured ones.
func newRateLimits(c *config.Config) (l rateLimits) {
	if c.RateLimit.Requests == 0 {
		return l
	}
	burst := cmp.Or(c.RateLimitBurst, c.RateLimit.Requests)
	if c.RateLimitBy.Address {
		l.address = ratelimit.ByAddress(c.RateLimit, burst)
	}
	if c.RateLimitBy.Subject {
		l.subject = ratelimit.BySubject(c.RateLimit, burst)
	}
	return l
}

// apply adds the limits to the options of the routes.
func (l rateLimits) apply(o routes.Options) routes.Options {
	if l.address != nil { // an interface that holds a nil pointer is not nil
		o.AddressLimit = l.address
	}
	if l.subject != nil {
		o.SubjectLimit = l.subject
	}
	return o
}

// refused returns how many requests of addresses and of subjects were refused.
func (l rateLimits) refused() (address, subject uint64) {
	return l.address.Refused(), l.subject.Refused()
}
