package middleware_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/middleware"
)

// waiting is a limiter that makes all clients wait that long, if it is positive.
type waiting time.Duration

func (w waiting) Take(string) time.Duration { return time.Duration(w) }

func (waiting) Rate() string { return "100/s" }

// TestRateLimits checks that a refusal names the time to wait in whole seconds, rounded up.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		0: "", 1: "1", time.Second - 1: "1", time.Second: "1", time.Second + 1: "2", time.Hour: "3600",
	} {
		for client, limit := range map[string]func(middleware.Limiter) gin.HandlerFunc{
			"this address":                           middleware.AddressLimit,
			"the subject (sub) of this access token": middleware.SubjectLimit,
		} {
			w := serve(t, post(t, nil, http.NoBody), limit(waiting(wait)), pass)
			if got := w.Header().Get("Retry-After"); got != want {
				t.Errorf("%s, %v: Retry-After %q, want %q", client, wait, got, want)
			}
			if wait > 0 {
				checkError(t, w, 429, "the rate limit of 100/s for "+client+" is exceeded; send the request again in "+want+" s")
			} else if !reached(w) {
				t.Errorf("%s: got %d %s", client, w.Code, w.Body)
			}
		}
	}
}

// TestNoRateLimit checks that a nil limiter limits nothing.
func TestNoRateLimit(t *testing.T) {
	t.Parallel()
	if w := serve(t, post(t, nil, http.NoBody), middleware.AddressLimit(nil), middleware.SubjectLimit(nil), pass); !reached(w) {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
