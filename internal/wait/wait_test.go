package wait_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/wait"
)

// TestEvery checks that f is called after each interval, and never twice at a time.
func TestEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start, calls := time.Now(), []time.Duration{}
		wait.Every(ctx, time.Minute, func() {
			calls = append(calls, time.Since(start))
			switch len(calls) {
			case 2:
				time.Sleep(150 * time.Second) // two ticks and a half
			case 5:
				cancel()
			}
		})
		want := []time.Duration{time.Minute, 2 * time.Minute, 270 * time.Second, 5 * time.Minute, 6 * time.Minute}
		if !slices.Equal(calls, want) {
			t.Errorf("calls after %v, want %v", calls, want)
		}
	})
}

func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, want := range []struct {
			slept bool
			took  time.Duration
		}{{true, 40 * time.Second}, {false, 20 * time.Second}, {false, 0}} {
			start := time.Now()
			if slept := wait.Sleep(ctx, 40*time.Second); slept != want.slept || time.Since(start) != want.took {
				t.Errorf("slept: %t after %v, want %t after %v", slept, time.Since(start), want.slept, want.took)
			}
		}
	})
}
