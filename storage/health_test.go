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
	if cause == nil && err != nil {
		t.Errorf("%s: %v, want that it is ready", when, err)
	}
	for _, part := range []error{storage.ErrUnavailable, storage.ErrFailing, cause} {
		if cause != nil && !errors.Is(err, part) {
			t.Errorf("%s: %v, want: %v", when, err, part)
		}
	}
}

// TestFailingCommits checks that a failed commit makes the store unready until a commit
// succeeds: neither time nor a create of a taken id changes that.
func TestFailingCommits(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		outcome := e.create(t.Context(), 1, "a")
		e.commit(t, fail(errHum), 1)
		want(t, "a create", outcome, errHum)
		wantFailing(t, e, "after it", errHum)
		taken := e.create(t.Context(), 2, "b")
		e.commit(t, func(batch []storage.Item) error { batch[0].Existing = &models.Plant{}; return nil }, 2)
		wantExists(t, "an id that is taken", taken, false)
		wantFailing(t, e, "after an id that is taken", errHum)
		for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second} {
			time.Sleep(pause - time.Nanosecond)
			wantFailing(t, e, "before a trial", errHum)
			time.Sleep(time.Nanosecond)
			e.commit(t, fail(errHum))
			wantFailing(t, e, "after a failed trial", errHum)
		}
		outcome = e.create(t.Context(), 1, "a")
		e.commit(t, succeed, 1)
		want(t, "a create", outcome)
		wantFailing(t, e, "after a create", nil)
		time.Sleep(10 * time.Second)
		e.commit(t, succeed) // the last trial
		time.Sleep(time.Hour)
		wantFailing(t, e, "at last", nil)
	})
}

// TestTrialSucceeds checks that a trial makes the store ready again without any create. If the
// next create fails all the same, the next trial comes later.
func TestTrialSucceeds(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		commits := 0
		e.store.ObserveCommits(func(int, time.Duration) { commits++ })
		for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			outcome := e.create(t.Context(), 1, "a")
			e.commit(t, func(batch []storage.Item) error { batch[0].Err = storage.ErrNoSpace; return nil }, 1)
			want(t, "a create", outcome, storage.ErrNoSpace)
			wantFailing(t, e, "after it", storage.ErrNoSpace)
			time.Sleep(pause)
			e.commit(t, succeed)
			wantFailing(t, e, "after a trial", nil)
		}
		if commits != 3 {
			t.Errorf("%d commits were observed, want the three of creates", commits)
		}
	})
}

// TestTrialWithoutRecorder checks that trials go on, and succeed, while nothing can be recorded.
func TestTrialWithoutRecorder(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		r := &testRecorder{let: make(chan struct{})}
		close(r.let)
		e.store.RecordWith(r)
		outcome := e.create(t.Context(), 1, "a")
		e.commit(t, fail(errHum), 1)
		want(t, "a create", outcome, errHum)
		r.unready = storage.ErrAuditLog
		time.Sleep(time.Second)
		e.commit(t, succeed)
		if err := e.store.Ready(); !errors.Is(err, storage.ErrAuditLog) || errors.Is(err, storage.ErrFailing) {
			t.Errorf("after a trial: %v, want: %v", err, storage.ErrAuditLog)
		}
		r.unready = nil
		wantFailing(t, e, "at last", nil)
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

// TestCloseBeforeTrial checks that a store can be closed before the trial.
func TestCloseBeforeTrial(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		outcome := e.create(t.Context(), 1, "a")
		e.commit(t, fail(errHum), 1)
		want(t, "a create", outcome, errHum)
		_ = e.store.Close()
		time.Sleep(time.Minute)
		if err := e.store.Ready(); !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrFailing) {
			t.Errorf("after Close: %v", err)
		}
	})
}
