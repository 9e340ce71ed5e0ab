package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// race runs the first exchange of a case several times concurrently. Exactly one must get the
// first expected response, all others the second.
func (r *runner) race(ctx context.Context, c Case, v values) ([]received, error) {
	t, n := c.Exchanges[0], c.Racing
	if r.limited() && r.RateLimit.Requests < 3*n { // other cases may race at the same time
		return nil, fmt.Errorf("%w: %d requests at once may exceed the rate limit; one of 100/s is enough", errNotApplicable, n)
	}
	all := make([]received, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	var start sync.WaitGroup
	start.Add(n)
	for i := range n {
		wg.Go(func() {
			racer := v
			racer.racer, racer.start = i+1, &start
			received, err := r.exchange(ctx, Exchange{Send: t.Send, Want: t.Want[:1]}, racer)
			if errs[i] = err; err == nil {
				all[i] = received[0]
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	won := slices.IndexFunc(all, received.succeeded)
	winners := 0
	for i, h := range all {
		racer := v
		racer.racer = i + 1
		want := t.Want[1]
		if h.succeeded() {
			winners++
			want = t.Want[0]
		}
		if err := r.check(c, racer, h, want); err != nil {
			return all[i : i+1], fmt.Errorf("racer %d of %d: %w", i+1, n, err)
		}
	}
	if winners != 1 {
		return all[max(won, 0):][:1], fmt.Errorf("%d of %d racing creates got 200, want exactly 1", winners, n)
	}
	return all[won : won+1], nil
}
