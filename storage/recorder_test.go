package storage_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"plantstore/models"
	"plantstore/storage"
)

// A testRecorder records when it is let.
type testRecorder struct {
	storage.Recorder // nil: there is no reset

	panics   string // the method that panics
	unready  error  // of Ready
	err      error  // of Record
	let      chan struct{}
	recorded []storage.Outcome
	closed   bool
}

// Ready implements [storage.Recorder].
func (r *testRecorder) Ready() error {
	if r.panics == "Ready" {
		panic("a bug")
	}
	return r.unready
}

// Record implements [storage.Recorder].
func (r *testRecorder) Record(outcomes []storage.Outcome) error {
	<-r.let
	if r.panics == "Record" {
		panic("a bug")
	}
	r.recorded = append(r.recorded, outcomes...)
	return r.err
}

// Close implements [storage.Recorder].
func (r *testRecorder) Close() error {
	r.closed = true
	return errors.New("closed")
}

// TestRecorder checks that creates are recorded before their outcome is sent and before the
// recorder is closed, with their actors, and that only a create that has stored its plant
// gets the error of the recorder.
func TestRecorder(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		r := &testRecorder{err: storage.ErrUnrecorded, let: make(chan struct{})}
		e.store.RecordWith(r)
		exists := func(b []storage.Item) error {
			b[0].Existing, b[1].Existing = new(models.Plant), new(models.Plant)
			return nil
		}
		stored := e.create(storage.WithActor(t.Context(), storage.Actor{Subject: "alice"}), 1, "a")
		same := e.create(t.Context(), 1, "a")
		taken := e.createAll(t.Context(), "a", 2)
		closed := make(chan error, 1)
		go func() { closed <- e.store.Close() }()
		e.commit(t, succeed, 1)
		wantNone(t, "stored", stored)
		close(r.let)
		synctest.Wait()
		if r.closed {
			t.Error("the recorder is closed before the last create")
		}
		e.commit(t, exists, 1, 2)
		if err := <-closed; err == nil || err.Error() != "closed" || !r.closed {
			t.Errorf("Close = %v, want the error of the recorder", err)
		}
		want(t, "stored", stored, storage.ErrUnrecorded)
		wantExists(t, "of the same id", same, false)
		wantExists(t, "taken", taken, false)
		var ids []int64
		for _, o := range r.recorded {
			ids = append(ids, o.ID)
			if (o.Err == nil) != (o.Actor != nil && o.Actor.Subject == "alice") {
				t.Errorf("recorded is %+v, want that only the first is by alice, and succeeded", o)
			}
		}
		if !slices.Equal(ids, []int64{1, 1, 2}) {
			t.Errorf("recorded are %v", ids)
		}
	})
}

// TestRecorderNotReady checks that while outcomes cannot be recorded nothing is committed.
func TestRecorderNotReady(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.store.RecordWith(&testRecorder{unready: storage.ErrNoSpace})
		want(t, "one", e.create(t.Context(), 1, "a"), storage.ErrNoSpace)
		want(t, "many", e.createAll(t.Context(), "a", 2, 3), storage.ErrNoSpace)
		if err := e.store.Ready(); !errors.Is(err, storage.ErrNoSpace) {
			t.Errorf("Ready = %v, want %v", err, storage.ErrNoSpace)
		}
	})
}

// TestRecorderPanics checks that a panic of the recorder stops the store, as one of the engine
// does, and that creates whose plants are stored do not get the error of others.
func TestRecorderPanics(t *testing.T) {
	t.Parallel()
	const cause = "the audit log panicked: a bug"
	test := func(method string, test func(t *testing.T, e *testEngine)) {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			run(t, func(t *testing.T, e *testEngine) {
				r := &testRecorder{panics: method, let: make(chan struct{})}
				close(r.let)
				e.store.RecordWith(r)
				test(t, e)
				wantStopped(t, e, cause)
			})
		})
	}
	test("Ready", func(t *testing.T, e *testEngine) {
		want(t, "not stored", e.create(t.Context(), 1, "a"), storage.ErrUnavailable)
	})
	test("Record", func(t *testing.T, e *testEngine) {
		stored, queued := e.create(t.Context(), 1, "a"), e.create(t.Context(), 2, "a")
		e.commit(t, succeed, 1)
		want(t, "stored", stored, storage.ErrUnrecorded)
		want(t, "queued", queued, storage.ErrUnavailable)
	})
	test("Record", func(t *testing.T, e *testEngine) {
		many := e.createAll(t.Context(), "a", 1, 2)
		e.commit(t, func(b []storage.Item) error { b[1].Existing = new(models.Plant); return nil }, 1, 2)
		want(t, "stored", many, storage.ErrUnrecorded)
		wantExists(t, "taken", many, false)
	})
}
