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
		e.createNow(t, 1, failOne(errHum), errHum)
		wantFailing(t, e, "after a bad plant", nil)
		e.createNow(t, 1, fail(errHum), errHum)
		wantFailing(t, e, "after a failed commit", errHum)
		e.createNow(t, 2, taken("b"), errDifferent)
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
		if n := e.store.Stats(); commits != 3 || n.FailedCommits != 1 || n.Created != 0 {
			t.Errorf("%d commits were observed; want those of the creates, of which one failed: %+v", commits, n)
		}
	})
}

// TestCreateAfterFailure checks that a create that succeeds makes the store ready again, unless there
// was no space: it may have fitted into free pages. No empty batch follows a create under way.
func TestCreateAfterFailure(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		var took time.Duration
		e.store.ObserveCommits(func(_ int, d time.Duration) { took += d })
		e.createNow(t, 1, fail(errHum), errHum)
		slow, queued := e.create(t.Context(), 1, "a"), e.create(t.Context(), 2, "a")
		time.Sleep(time.Minute)
		if n := e.store.Stats().QueuedCreates; n != 1 {
			t.Errorf("%d creates are queued, want 1", n)
		}
		e.commit(t, taken("a"), 1)
		want(t, "an id that is taken", slow, errIdentical)
		if took != time.Minute {
			t.Errorf("commits of a minute are observed as %v", took)
		}
		e.commit(t, taken("a"), 2)
		want(t, "an id that is taken", queued, errIdentical)
		time.Sleep(time.Second)
		e.commit(t, fail(errHum))
		e.createNow(t, 1, succeed)
		wantFailing(t, e, "after a create", nil)
		time.Sleep(time.Minute) // an empty batch would block
		for id, full := range []func([]storage.Item) error{fail(storage.ErrNoSpace), failOne(storage.ErrNoSpace)} {
			e.createNow(t, int64(id), full, storage.ErrNoSpace)
			e.createNow(t, 3, succeed)
			wantFailing(t, e, "after a small create", storage.ErrNoSpace)
			time.Sleep(time.Second)
			e.commit(t, succeed)
			wantFailing(t, e, "after an empty batch", nil)
		}
	})
}

// TestFailingStart checks that a store is not ready if its first empty batch fails, and that no
// create of a taken id makes it ready.
func TestFailingStart(t *testing.T) {
	t.Parallel()
	runWith(t, storage.Limits{}, fail(storage.ErrNoSpace), func(t *testing.T, e *testEngine) {
		wantFailing(t, e, "at first", storage.ErrNoSpace)
		e.createNow(t, 1, taken("a"), errIdentical)
		wantFailing(t, e, "after an id that is taken", storage.ErrNoSpace)
		time.Sleep(time.Second)
		e.commit(t, succeed)
		wantFailing(t, e, "after an empty batch", nil)
		if n := e.store.Stats().FailedCommits; n != 0 {
			t.Errorf("%d failed commits, want none: no create has failed", n)
		}
	})
}

// TestNoProbeAfterEnd checks that a store that has failed commits no empty batch after Close, nor
// after a fault.
func TestNoProbeAfterEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(e *testEngine){
		"closed":  func(e *testEngine) { _ = e.store.Close() },
		"stopped": func(e *testEngine) { e.failStop.Stop(errors.New("the file is gone")) },
	} {
		runWith(t, storage.Limits{}, fail(errHum), func(t *testing.T, e *testEngine) {
			end(e)
			time.Sleep(time.Minute)
			background(func() error { e.store.Probe(); return nil })
			e.wantBusy(t, 0)
			if err := e.store.Ready(); !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, errHum) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
