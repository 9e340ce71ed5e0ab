package storage_test

import (
	"context"
	"testing"
	"testing/synctest"

	"plantstore/storage"
)

// wantBusy checks how many commits and resets are under way.
func (e *testEngine) wantBusy(t *testing.T, want int64) {
	t.Helper()
	synctest.Wait()
	if got := e.busy.Load(); got != want {
		t.Errorf("%d commits and resets are under way, want %d", got, want)
	}
}

// TestResetBetweenCommits checks that a reset waits for the commit under way, and that later creates
// wait for it.
func TestResetBetweenCommits(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.create(t.Context(), 1, "a")
		reset := e.reset(t.Context())
		later := e.create(t.Context(), 2, "a")
		for _, id := range []int64{1, 10, 2} {
			e.wantBusy(t, 1)
			e.commit(t, succeed, id)
		}
		want(t, "reset", reset)
		want(t, "later", later)
		if n := e.store.Stats(); n.Resets != 1 || n.Created != 2 {
			t.Errorf("statistics after a reset and 2 creates: %+v", n)
		}
	})
}

// TestResetWhoseContextEnds checks that a reset that waits can be canceled, and does not hold up
// later commits.
func TestResetWhoseContextEnds(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		ctx, cancel := context.WithCancel(t.Context())
		e.create(t.Context(), 1, "a")
		waiting, behind := e.reset(ctx), e.reset(ctx)
		cancel()
		want(t, "waiting", waiting, context.Canceled)
		want(t, "behind", behind, context.Canceled)
		e.commit(t, succeed, 1)
		reset := e.reset(t.Context())
		e.commit(t, succeed, 10)
		want(t, "reset", reset)
	})
}

// TestResetMeetsClose checks that a reset that waits for a commit is refused when the store is
// closed, and a later one, too.
func TestResetMeetsClose(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.create(t.Context(), 1, "a")
		waiting := e.reset(t.Context())
		closed := background(e.store.Close)
		behind := e.reset(t.Context())
		e.commit(t, succeed, 1)
		want(t, "Close", closed)
		for _, reset := range []<-chan error{waiting, behind, e.reset(t.Context())} {
			want(t, "reset", reset, storage.ErrUnavailable)
		}
	})
}

// TestFailedReset checks that the store continues after a reset that fails, unless the engine
// has stopped it.
func TestFailedReset(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		failed := e.reset(t.Context())
		e.commit(t, fail(storage.ErrNoSpace), 10)
		want(t, "failed", failed, storage.ErrNoSpace)
		e.createNow(t, 1, succeed)
		panicked, behind := e.reset(t.Context()), e.reset(t.Context())
		e.commit(t, func([]storage.Item) error { panic(errHum) }, 10)
		want(t, "panicked", panicked, storage.ErrUnknown)
		want(t, "behind", behind, storage.ErrUnavailable)
		wantStopped(t, e)
		if n := e.store.Stats(); n.Resets != 0 || e.store.Fault() == nil {
			t.Errorf("%d resets are counted, want none; fault: %v", n.Resets, e.store.Fault())
		}
	})
}
