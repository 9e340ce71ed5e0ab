package conformance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"plantstore/internal/ratelimit"
)

// TestConformanceMissingRateLimit checks that a missing limit is a deviation.
func TestConformanceMissingRateLimit(t *testing.T) {
	t.Parallel()
	o := serveTiny(t, nil)
	o.RateLimit, o.Timeout = ratelimit.Rate{Requests: 1_000_000, Per: time.Second}, 500*time.Millisecond
	if r := runOne(t, o, limitCases()[0]); r.Outcome != Failed || !strings.Contains(r.Reason, "no error 429") {
		t.Errorf("%s %q, want failed", r.Outcome, r.Reason)
	}
}

// TestRetryAfter checks that error 429 must have Retry-After, in seconds.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Fri, 31 Dec 1999 23:59:59 GMT"
	for text, want := range map[string]bool{"1": true, "3600": true, "": false, "0": false, "-1": false, "1.5": false, date: false} {
		if _, valid := (received{header: http.Header{"Retry-After": {text}}}).retryAfter(); valid != want {
			t.Errorf("%q is valid: %t", text, valid)
		}
	}
}
