package storage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/storage"
)

// What a pulse says follows what the engine says, within its bound, also when the
// engine says nothing at all.
func TestPulse(t *testing.T) {
	t.Parallel()
	errAway := errors.New("away")
	mute := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan func(context.Context) error, 1) // holds the one to be given
		answers <- mute
		pulse := storage.NewPulse(func(ctx context.Context) error {
			answer := <-answers
			answers <- answer
			return answer(ctx)
		})
		defer pulse.Close()
		if err := pulse.Err(); err != nil {
			t.Errorf("at first: %v", err)
		}
		for _, step := range []struct {
			answer func(context.Context) error
			want   error
		}{
			{func(context.Context) error { return nil }, nil},
			{func(context.Context) error { return errAway }, errAway},
			{func(context.Context) error { return nil }, nil},
			{mute, context.DeadlineExceeded},
			{func(context.Context) error { return nil }, nil},
		} {
			<-answers
			answers <- step.answer
			time.Sleep(12 * time.Second) // what is under way, the pause and a whole question
			err := pulse.Err()
			if !errors.Is(err, step.want) || (err != nil) != errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("it says %v, want: %v", err, step.want)
			}
		}
	})
}

// One that waits for an answer ends at once when it is closed.
func TestPulseCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan struct{})
		pulse := storage.NewPulse(func(ctx context.Context) error {
			close(asked)
			<-ctx.Done()
			return ctx.Err()
		})
		<-asked
		start := time.Now()
		pulse.Close()
		pulse.Close()
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}
