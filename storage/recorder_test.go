package storage_test

import (
	"errors"
	"slices"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

// A testRecorder records when it is let.
type testRecorder struct {
	storage.Recorder // nil: there is no reset

	unready  error // of Ready
	err      error // of Record
	let      chan struct{}
	recorded []storage.Outcome
	closed   bool
}

// Ready implements [storage.Recorder].
func (r *testRecorder) Ready() error { return r.unready }

// Record implements [storage.Recorder].
func (r *testRecorder) Record(outcomes []storage.Outcome) error {
	<-r.let
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
		exists := func(b []storage.Item) error { b[0].Existing = new(models.Plant); return nil }
		stored := e.create(storage.WithActor(t.Context(), storage.Actor{Subject: "alice"}), 1, "a")
		same := e.create(t.Context(), 1, "a")
		taken := e.createAll(t.Context(), "a", 2)
		closed := make(chan error, 1)
		go func() { closed <- e.store.Close() }()
		e.commit(t, succeed, 1)
		wantNone(t, "stored", stored)
		close(r.let)
		e.commit(t, exists, 1)
		if r.closed {
			t.Error("the recorder is closed before the last create")
		}
		e.commit(t, exists, 2)
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
