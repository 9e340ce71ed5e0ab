package middleware

import (
	"context"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// A Limiter limits the rate of requests of each client.
type Limiter interface {
	// Take returns 0 if a client may send a request with this context now, otherwise how long it must wait.
	Take(ctx context.Context, client string) (wait time.Duration)
	// Rate returns the limit, such as 100/s.
	Rate() string
}

// RateLimit refuses the requests with tokens of a subject beyond the limit. It comes after
// Bearer (C2.8). Tokens without a subject have one limit together. A nil limiter allows all
// requests.
func RateLimit(limiter Limiter) gin.HandlerFunc {
	if limiter == nil {
		return func(*gin.Context) {}
	}
	return func(c *gin.Context) {
		if wait := limiter.Take(c.Request.Context(), OutcomeOf(c).Subject); wait > 0 {
			seconds := int64((wait + time.Second - 1) / time.Second) // at least 1
			c.Header("Retry-After", strconv.FormatInt(seconds, 10))
			Fail(c, models.Errorf(models.CodeTooManyRequests,
				"the rate limit of %s for the subject (sub) of this access token is exceeded; send the request again in %d s",
				limiter.Rate(), seconds))
		}
	}
}
