package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// race runs the same exchange n times concurrently. Exactly one must get the first
// expected response, all others the second.
func (r *runner) race(ctx context.Context, t Exchange, n int, v values) ([]received, error) {
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
	won := slices.IndexFunc(all, func(h received) bool { code, _ := h.failure(); return code == 0 })
	winners := 0
	for i, h := range all {
		racer := v
		racer.racer = i + 1
		want := t.Want[1]
		if code, _ := h.failure(); code == 0 {
			winners++
			want = t.Want[0]
		}
		if err := h.check(want, racer, true); err != nil {
			return all[i : i+1], fmt.Errorf("racer %d of %d: %w", i+1, n, err)
		}
	}
	if winners != 1 {
		return all[max(won, 0):][:1], fmt.Errorf("%d of %d racing creates got 200, want exactly 1", winners, n)
	}
	return all[won : won+1], nil
}
