package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"plantstore/internal/ratelimit"
)

const (
	// belowLimit is the share of the server's rate limit that a run uses.
	belowLimit = 0.9
	// exceeders is the number of concurrent clients that exceed a limit, and pipelined the
	// number of requests that each of them sends at once over a connection.
	exceeders, pipelined = 32, 20
	// longestWait bounds the Retry-After that a case waits for.
	longestWait = time.Minute
)

// limitCases are about the rate limit (C1.4, C1.6). They send requests that a server refuses
// anyway, so that they store next to nothing.
func limitCases() []Case {
	c := one("C1.4", "429 for too many requests; after Retry-After a request succeeds", post(`{`), fails(429)).then(good(), fern())
	c.Exceeds = true
	return []Case{c.needs(NeedLimit)}
}

const (
	// flagRateLimit is the flag of plantstore conformance for the limit of the server.
	flagRateLimit = "--rate-limit"
	// reasonRateLimited is the reason of a case that an unexpected rate limit prevented.
	reasonRateLimited = "the server has a rate limit (error 429): give it with " + flagRateLimit
)

// RateLimited returns the number of cases that an unexpected rate limit prevented.
func (r Report) RateLimited() int { return r.notRun(reasonOf)[reasonRateLimited] }

// limited reports whether the server has a rate limit.
func (r *runner) limited() bool { return r.RateLimit.Requests > 0 }

// paceBelow returns the pace of a run below a limit, nil if there is none.
func paceBelow(limit ratelimit.Rate) *rate.Limiter {
	if limit.Requests == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(limit.PerSecond()*belowLimit), 1)
}

// keepPace waits until the requests of an exchange can be sent without exceeding the rate
// limit, or ctx is done.
func (r *runner) keepPace(ctx context.Context, t Exchange) {
	if r.pace == nil {
		return
	}
	requests := len(t.Send)
	if t.After == AfterKept {
		requests++
	}
	for range requests {
		_ = r.pace.Wait(ctx) // fails if ctx is done, as sending does then
	}
}

// exceed repeats the first exchange of a case, of one request, until a response is error 429. Then
// it waits for Retry-After.
func (r *runner) exceed(ctx context.Context, c Case, v values) (received, error) {
	sending, enough := context.WithTimeout(ctx, r.Timeout)
	defer enough()
	t, want := c.Exchanges[0], c.Exchanges[0].Want[0]
	t.Send, t.Want = slices.Repeat(t.Send, pipelined), slices.Repeat(t.Want, pipelined)
	t.Pipelined, t.unpaced = true, true
	var first sync.Once
	var refused received
	var wg sync.WaitGroup
	for range exceeders {
		wg.Go(func() {
			for sending.Err() == nil {
				all, _ := r.exchange(sending, t, v) // canceled when there is enough
				if i := slices.IndexFunc(all, isRateLimited); i >= 0 {
					first.Do(func() { refused = all[i] })
					enough()
				}
			}
		})
	}
	wg.Wait()
	if refused.header == nil {
		return refused, fmt.Errorf("no error 429 in %v", r.Timeout)
	}
	if err := r.check(c, v, refused, want); err != nil {
		return refused, err
	}
	after, _ := refused.retryAfter()
	if after > longestWait {
		return refused, fmt.Errorf("%w: Retry-After is %v", errNotApplicable, after)
	}
	select {
	case <-time.After(after):
		return refused, nil
	case <-ctx.Done():
		return refused, ctx.Err()
	}
}

// isRateLimited reports whether a response is error 429.
func isRateLimited(h received) bool { return h.code() == 429 }

// retryAfter returns the time in Retry-After, which is valid if it is a positive number of
// seconds.
func (h received) retryAfter() (after time.Duration, valid bool) {
	seconds, err := strconv.ParseUint(h.header.Get("Retry-After"), 10, 31)
	return time.Duration(seconds) * time.Second, err == nil && seconds >= 1
}
