package storage_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/storage"
)

// errHum is the error of a disk.
var errHum = errors.New("the disk hums")

// wantFailing checks that the store is not ready because of cause, or is if that is nil.
func wantFailing(t *testing.T, e *testEngine, when string, cause error) {
	t.Helper()
	synctest.Wait()
	err := e.store.Ready()
	if !errors.Is(err, cause) || (err != nil) != errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("%s: %v, want: %v", when, err, cause)
	}
}

// TestFailingCommits checks that a failed commit makes the store unready until one succeeds, and
// that it commits an empty batch each second meanwhile. A create of a taken id changes nothing,
// nor does the fault of one plant, which its client caused.
func TestFailingCommits(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		commits := 0
		e.store.ObserveCommits(func(int, time.Duration) { commits++ })
		bad := e.create(t.Context(), 1, "a")
		e.commit(t, func(batch []storage.Item) error { batch[0].Err = errHum; return nil }, 1)
		want(t, "a bad plant", bad, errHum)
		wantFailing(t, e, "after a bad plant", nil)
		outcome := e.create(t.Context(), 1, "a")
		e.commit(t, fail(errHum), 1)
		want(t, "a create", outcome, errHum)
		wantFailing(t, e, "after it", errHum)
		conflict := e.create(t.Context(), 2, "b")
		e.commit(t, taken("a"), 2)
		wantExists(t, "an id that is taken", conflict, false)
		for range 3 {
			time.Sleep(time.Second - time.Nanosecond)
			wantFailing(t, e, "before an empty batch", errHum)
			time.Sleep(time.Nanosecond)
			e.commit(t, fail(errHum))
			wantFailing(t, e, "after a failed empty batch", errHum)
		}
		time.Sleep(time.Second)
		e.commit(t, succeed)
		wantFailing(t, e, "after an empty batch", nil)
		time.Sleep(time.Hour) // a further empty batch would block
		wantFailing(t, e, "at last", nil)
		if n := e.store.Stats(); commits != 3 || n.FailedCommits != 1 {
			t.Errorf("%d commits were observed, and %d failed; want those of the creates", commits, n.FailedCommits)
		}
	})
}

// TestCreateAfterFailure checks that a create that succeeds makes the store ready again, also
// instead of an empty batch: none is queued behind creates. If their ids are taken, one follows.
func TestCreateAfterFailure(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		full := e.create(t.Context(), 1, "a")
		e.commit(t, fail(storage.ErrNoSpace), 1)
		want(t, "a create", full, storage.ErrNoSpace)
		wantFailing(t, e, "after it", storage.ErrNoSpace)
		slow, queued := e.create(t.Context(), 1, "a"), e.create(t.Context(), 2, "a")
		time.Sleep(time.Minute)
		if n := e.store.Stats().QueuedCreates; n != 1 {
			t.Errorf("%d creates are queued, want 1", n)
		}
		e.commit(t, taken("a"), 1)
		wantExists(t, "an id that is taken", slow, true)
		e.commit(t, taken("a"), 2)
		wantExists(t, "an id that is taken", queued, true)
		time.Sleep(time.Second)
		e.commit(t, fail(storage.ErrNoSpace))
		created := e.create(t.Context(), 1, "a")
		e.commit(t, succeed, 1)
		want(t, "a create", created)
		wantFailing(t, e, "after a create", nil)
		time.Sleep(time.Minute) // an empty batch would block
	})
}

// TestCloseAfterFailure checks that a store commits no empty batch after Close.
func TestCloseAfterFailure(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		outcome := e.create(t.Context(), 1, "a")
		e.commit(t, fail(errHum), 1)
		want(t, "a create", outcome, errHum)
		_ = e.store.Close()
		time.Sleep(time.Minute) // an empty batch would block
		if err := e.store.Ready(); !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, errHum) {
			t.Errorf("after Close: %v", err)
		}
	})
}
