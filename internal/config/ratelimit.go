package config

import (
	"errors"
	"strings"

	"plantstore/internal/ratelimit"
)

// RateLimitBy selects the kinds of clients that have a rate limit.
type RateLimitBy struct {
	Address bool // the network address of the client
	Subject bool // the subject of its token
}

func rateLimitOptions() []Option {
	return []Option{
		{
			Env: "RATE_LIMIT", Flag: "rate-limit", Default: rateLimitOff,
			Help: "maximum `rate` of requests of a client, such as 100/s, 600/m, 1000/h; beyond: error 429",
			set:  parsed(parseRateLimit, func(c *Config) *ratelimit.Rate { return &c.RateLimit }),
		},
		{
			Env: "RATE_LIMIT_BURST", Flag: "rate-limit-burst",
			Help: "maximum number of `requests` that a client may send at once (default: the number in RATE_LIMIT)",
			set:  parsed(ratelimit.ParseBurst, func(c *Config) *int { return &c.RateLimitBurst }),
		},
		{
			Env: "RATE_LIMIT_BY", Flag: "rate-limit-by", Default: "address,subject",
			Help: "`clients` that RATE_LIMIT is for: address, subject (of the token) or both; behind a proxy: subject",
			set:  parsed(parseRateLimitBy, func(c *Config) *RateLimitBy { return &c.RateLimitBy }),
		},
	}
}

// rateLimitOff is the value of RATE_LIMIT for none.
const rateLimitOff = "off"

func parseRateLimit(v string) (ratelimit.Rate, error) {
	if v == rateLimitOff {
		return ratelimit.Rate{}, nil
	}
	limit, err := ratelimit.Parse(v)
	if err != nil {
		err = errors.New(err.Error() + ", or " + rateLimitOff)
	}
	return limit, err
}

func parseRateLimitBy(v string) (by RateLimitBy, err error) {
	for name := range strings.SplitSeq(v, ",") {
		switch {
		case name == "address" && !by.Address:
			by.Address = true
		case name == "subject" && !by.Subject:
			by.Subject = true
		default:
			return RateLimitBy{}, errors.New("must be address, subject or address,subject")
		}
	}
	return by, nil
}

// checkRateLimit returns an error if there is a burst without a rate limit: the server would
// have none, unlike what the operator expects.
func (c *Config) checkRateLimit() error {
	if c.RateLimitBurst > 0 && c.RateLimit.Requests == 0 {
		return errors.New("RATE_LIMIT_BURST (--rate-limit-burst) is given, and RATE_LIMIT (--rate-limit) is off: " +
			"set it, to 100/s for example, or remove the burst")
	}
	return nil
}
