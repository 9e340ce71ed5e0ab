package browse

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestSampler checks that the pause between two counts grows with their cost, and that a page
// does not wait for a slow count.
func TestSampler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var counts, cost, plants atomic.Int64
		plants.Store(10)
		ctx, cancel := context.WithCancel(t.Context())
		s := sampler{ctx: ctx, count: func(ctx context.Context) (int64, Source, error) {
			counts.Add(1)
			if cost.Load() < 0 {
				time.Sleep(3 * time.Second)
				return 0, "", errors.New("locked")
			}
			select {
			case <-time.After(time.Duration(cost.Load())):
				return plants.Load(), Cluster, nil
			case <-ctx.Done():
				return 0, "", ctx.Err()
			}
		}}
		for range 100 { // ten pages for ten seconds
			for range 10 {
				s.get(t.Context())
			}
			time.Sleep(100 * time.Millisecond)
		}
		got := s.get(t.Context())
		n := len(got.Samples)
		if n > 12 || n < 10 || int64(n) != counts.Load() || got.Samples[n-1].Plants != 10 || got.Source != Cluster {
			t.Errorf("%d counts in ten seconds: %+v", counts.Load(), got)
		}

		time.Sleep(time.Second)
		cost.Store(int64(3 * time.Second))
		plants.Store(20)
		counts.Store(0)
		began := time.Now()
		if got := s.get(t.Context()); got.Samples[len(got.Samples)-1].Plants != 10 || time.Since(began) != countWait {
			t.Errorf("after %v: %+v", time.Since(began), got)
		}
		for range 60 {
			time.Sleep(time.Second)
			got = s.get(t.Context())
		}
		if newest := got.Samples[len(got.Samples)-1]; counts.Load() != 2 || newest.Plants != 20 {
			t.Errorf("%d counts of 3 seconds in a minute: %+v", counts.Load(), newest)
		}
		time.Sleep(time.Hour)
		cost.Store(0)
		if got := s.get(t.Context()); len(got.Samples) != 2 || got.Samples[1].Age != 0 {
			t.Errorf("after an hour: %+v", got)
		}

		time.Sleep(time.Minute)
		cost.Store(-1)
		s.get(t.Context())
		time.Sleep(4 * time.Second)
		cost.Store(0)
		if got := s.get(t.Context()); got.Error != "" || got.Samples[len(got.Samples)-1].Age != 0 {
			t.Errorf("after a failure: %+v", got)
		}

		time.Sleep(time.Minute)
		cost.Store(int64(time.Hour))
		s.get(t.Context())
		cancel()
		s.counts.Wait()
		if !errors.Is(s.err, context.Canceled) {
			t.Errorf("after the end: %v", s.err)
		}
	})
}
