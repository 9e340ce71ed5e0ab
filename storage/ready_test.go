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
