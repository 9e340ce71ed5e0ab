package storage_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/models"
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

// TestFailingCommits checks that a failed commit makes the store unready until a commit
// succeeds: each second the store commits an empty batch. A create of a taken id changes
// nothing.
func TestFailingCommits(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		commits := 0
		e.store.ObserveCommits(func(int, time.Duration) { commits++ })
		outcome := e.create(t.Context(), 1, "a")
		e.commit(t, fail(errHum), 1)
		want(t, "a create", outcome, errHum)
		wantFailing(t, e, "after it", errHum)
		taken := e.create(t.Context(), 2, "b")
		e.commit(t, func(batch []storage.Item) error { batch[0].Existing = &models.Plant{}; return nil }, 2)
		wantExists(t, "an id that is taken", taken, false)
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
		time.Sleep(time.Hour)
		wantFailing(t, e, "at last", nil)
		if n := e.store.Stats(); commits != 2 || n.FailedCommits != 1 {
			t.Errorf("%d commits were observed, and %d failed; want those of the creates", commits, n.FailedCommits)
		}
	})
}

// TestCreateAfterFailure checks that a create that succeeds makes the store ready again.
func TestCreateAfterFailure(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		full := e.create(t.Context(), 1, "a")
		e.commit(t, fail(storage.ErrNoSpace), 1)
		want(t, "a create", full, storage.ErrNoSpace)
		wantFailing(t, e, "after it", storage.ErrNoSpace)
		created := e.create(t.Context(), 1, "a")
		e.commit(t, succeed, 1)
		want(t, "a create", created)
		wantFailing(t, e, "after a create", nil)
		time.Sleep(time.Minute) // an empty batch would block
	})
}

// TestFailingPlant checks that the fault of one plant, which its client caused, is not a fault
// of the store.
func TestFailingPlant(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		outcome := e.create(t.Context(), 1, "a")
		e.commit(t, func(batch []storage.Item) error { batch[0].Err = errHum; return nil }, 1)
		want(t, "a create", outcome, errHum)
		wantFailing(t, e, "after it", nil)
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
