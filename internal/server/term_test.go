package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// ended reports why ctx has ended, nil if it has not.
func ended(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	default:
		return nil
	}
}

func TestTermOfEachRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var shared term
		defer shared.release()
		// Requests that end in time, with pauses that are shorter and longer
		// than the timer has still to run.
		for _, pause := range []time.Duration{0, 7 * time.Second, 0, time.Hour, 3 * time.Second} {
			ctx := shared.begin(t.Context(), 10*time.Second)
			began := time.Now()
			time.Sleep(9 * time.Second)
			synctest.Wait()
			if err := ended(ctx); err != nil {
				t.Fatalf("%v after it began: %v", time.Since(began), err)
			}
			if due, ok := ctx.Deadline(); !ok || !due.Equal(began.Add(10*time.Second)) {
				t.Errorf("it is due after %v, %v", due.Sub(began), ok)
			}
			shared.end()
			time.Sleep(pause)
		}
		// One that does not, and one after it.
		for range 2 {
			ctx := shared.begin(t.Context(), 10*time.Second)
			began := time.Now()
			<-ctx.Done()
			if took := time.Since(began); took != 10*time.Second || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Errorf("it ended after %v: %v", took, ctx.Err())
			}
			shared.end()
		}
	})
}

func TestTermIsCut(t *testing.T) {
	t.Parallel()
	var shared term
	defer shared.release()
	ctx := shared.begin(t.Context(), time.Hour)
	shared.cut()
	if err := ended(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after the cut: %v", err)
	}
	shared.end()
	if err := ended(shared.begin(t.Context(), time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("of a request after the cut: %v", err)
	}
}
