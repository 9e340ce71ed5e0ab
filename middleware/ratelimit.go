package middleware

import (
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// A Limiter limits the rate of requests of each client.
type Limiter interface {
	// Take returns 0 if a client may send a request now, otherwise how long it must wait.
	Take(client string) (wait time.Duration)
	// Rate returns the limit, such as 100/s.
	Rate() string
}

// AddressLimit refuses the requests of an address beyond the limit, before anything else
// about them is checked (C2.8). It comes after CORS: preflights are not limited, since a
// page could not read why one is refused. A nil limiter allows all requests.
func AddressLimit(limiter Limiter) gin.HandlerFunc {
	return rateLimit(limiter, "this address", func(c *gin.Context) string { return c.Request.RemoteAddr })
}

// limitedSubject is the client of SubjectLimit.
const limitedSubject = "the subject (sub) of this access token"

// SubjectLimit refuses the requests with tokens of a subject beyond the limit. It comes
// after Bearer. Tokens without a subject have one limit together. A nil limiter allows all
// requests.
func SubjectLimit(limiter Limiter) gin.HandlerFunc {
	return rateLimit(limiter, limitedSubject, Subject)
}

func rateLimit(limiter Limiter, client string, key func(*gin.Context) string) gin.HandlerFunc {
	if limiter == nil {
		return func(*gin.Context) {}
	}
	return func(c *gin.Context) {
		if wait := limiter.Take(key(c)); wait > 0 {
			failRate(c, client, limiter.Rate(), wait)
		}
	}
}

// failRate responds to a request beyond the limit of a client, which must wait.
func failRate(c *gin.Context, client, limit string, wait time.Duration) {
	seconds := int64((wait + time.Second - 1) / time.Second) // at least 1: wait is positive
	c.Header("Retry-After", strconv.FormatInt(seconds, 10))
	Fail(c, models.Errorf(models.CodeTooManyRequests,
		"the rate limit of %s for %s is exceeded; send the request again in %d s", limit, client, seconds))
}
