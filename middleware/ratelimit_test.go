package middleware_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"plantstore/middleware"
)

// waiting is a limiter that makes all clients wait that long, if it is positive.
type waiting time.Duration

func (w waiting) Take(context.Context, string) time.Duration { return time.Duration(w) }

func (waiting) Rate() string { return "100/s" }

// TestRateLimit checks that a refusal names the time to wait in whole seconds, rounded up.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		0: "", 1: "1", time.Second: "1", time.Second + 1: "2", time.Hour: "3600",
	} {
		w := serve(t, post(t, nil, http.NoBody), middleware.RateLimit(waiting(wait)), pass)
		if got := w.Header().Get("Retry-After"); got != want {
			t.Errorf("%v: Retry-After %q, want %q", wait, got, want)
		}
		if wait > 0 {
			checkError(t, w, 429, "the rate limit of 100/s for the subject (sub) of this access token is exceeded; "+
				"send the request again in "+want+" s")
		} else if !reached(w) {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	}
}
