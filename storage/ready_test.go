package storage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/storage"
)

// TestCommitHangs checks that a commit that does not end makes the store unready, until it
// does.
func TestCommitHangs(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		outcome := e.create(t.Context(), 1, "a")
		time.Sleep(90 * time.Second)
		if err := e.store.Ready(); err != nil {
			t.Errorf("a commit of 90 s: %v", err)
		}
		time.Sleep(time.Second)
		if err := e.store.Ready(); !errors.Is(err, storage.ErrCommitHangs) || !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("a commit of 91 s: %v, want %v", err, storage.ErrCommitHangs)
		}
		e.commit(t, succeed, 1)
		if err := <-outcome; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := e.store.Ready(); err != nil {
			t.Errorf("after it has ended: %v", err)
		}
	})
}

// TestReadyAfterWithdrawal checks that a writer that finds only withdrawn creates does not seem
// to hang.
func TestReadyAfterWithdrawal(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		first := e.create(t.Context(), 1, "a")
		ctx, cancel := context.WithCancel(t.Context())
		second := e.create(ctx, 2, "a")
		cancel()
		want(t, "second", second, storage.ErrOverloaded)
		e.commit(t, succeed, 1)
		want(t, "first", first)
		time.Sleep(time.Hour)
		if err := e.store.Ready(); err != nil {
			t.Errorf("Ready = %v, want nil", err)
		}
	})
}

// TestProbe checks that readiness follows the probes of the engine within its bound, also when
// one hangs.
func TestProbe(t *testing.T) {
	t.Parallel()
	errAway := errors.New("away")
	mute := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	synctest.Test(t, func(t *testing.T) {
		responses := make(chan func(context.Context) error, 1) // holds the one to be given
		responses <- mute
		s := storage.New(&testEngine{}, storage.Features{Probe: func(ctx context.Context) error {
			response := <-responses
			responses <- response
			return response(ctx)
		}}, storage.Options{})
		defer func() { _ = s.Close() }()
		if err := s.Ready(); err != nil {
			t.Errorf("at first: %v", err)
		}
		for _, step := range []struct {
			response func(context.Context) error
			want     error
		}{
			{func(context.Context) error { return nil }, nil},
			{func(context.Context) error { return errAway }, errAway},
			{func(context.Context) error { return nil }, nil},
			{mute, context.DeadlineExceeded},
			{func(context.Context) error { return nil }, nil},
		} {
			<-responses
			responses <- step.response
			time.Sleep(12 * time.Second) // the probe in progress, the pause and a complete probe
			err := s.Ready()
			if !errors.Is(err, step.want) || (err != nil) != errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("Ready = %v, want: %v", err, step.want)
			}
		}
	})
}

// TestProbeEndsAtClose checks that a probe that hangs does not delay Close.
func TestProbeEndsAtClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		probed := make(chan struct{})
		s := storage.New(&testEngine{}, storage.Features{Probe: func(ctx context.Context) error {
			close(probed)
			<-ctx.Done()
			return ctx.Err()
		}}, storage.Options{})
		<-probed
		start := time.Now()
		_ = s.Close()
		_ = s.Close()
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}
