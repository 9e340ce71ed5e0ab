package app

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestDelayed checks that serving ends after the delay, or as soon as the delay is ended, and
// that the shutdown is announced once.
func TestDelayed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		delay, ended time.Duration
		left         int // how often the shutdown is announced
		want         time.Duration
	}{
		"none":         {0, time.Hour, 0, 0},
		"some":         {5 * time.Second, time.Hour, 1, 5 * time.Second},
		"ended":        {5 * time.Second, time.Second, 1, time.Second},
		"ended before": {5 * time.Second, 0, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			left := 0
			leaving, leave := context.WithCancel(t.Context())
			serving, cancel := delayed(leaving, test.delay, func(ctx context.Context) (context.Context, context.CancelFunc) {
				left++
				return context.WithTimeout(ctx, test.ended)
			})
			defer cancel()
			time.Sleep(time.Hour)
			if serving.Err() != nil || left != 0 {
				t.Fatalf("%s: it ends before, announced %d times", name, left)
			}
			start := time.Now()
			leave()
			<-serving.Done()
			if took := time.Since(start); took != test.want || left != test.left {
				t.Errorf("%s: done after %v, announced %d times; want %v, %d", name, took, left, test.want, test.left)
			}
		})
	}
}

// TestDelayedIsCanceled checks that a server that fails, instead of being shut down, announces
// nothing.
func TestDelayedIsCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		leaving, leave := context.WithCancel(t.Context())
		serving, cancel := delayed(leaving, time.Minute, func(ctx context.Context) (context.Context, context.CancelFunc) {
			t.Error("announced")
			return context.WithCancel(ctx)
		})
		cancel()
		leave()
		synctest.Wait()
		if serving.Err() == nil {
			t.Error("still serving")
		}
	})
}
