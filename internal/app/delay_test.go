package app

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestDelayed checks that serving ends when the delay has ended, and not before.
func TestDelayed(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			left := 0
			leaving, leave := context.WithCancel(t.Context())
			serving, cancel := delayed(leaving, func(ctx context.Context) {
				left++
				select {
				case <-ctx.Done():
				case <-time.After(delay):
				}
			})
			defer cancel()
			time.Sleep(time.Hour)
			if serving.Err() != nil || left != 0 {
				t.Fatalf("%v: it ends before, announced %d times", delay, left)
			}
			start := time.Now()
			leave()
			<-serving.Done()
			if took := time.Since(start); took != delay || left != 1 {
				t.Errorf("%v: done after %v, announced %d times; want once", delay, took, left)
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
		serving, cancel := delayed(leaving, func(context.Context) { t.Error("announced") })
		cancel()
		leave()
		synctest.Wait()
		if serving.Err() == nil {
			t.Error("still serving")
		}
	})
}
