package storage_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// A testRecorder records when it is let.
type testRecorder struct {
	err      error // of Record
	let      chan struct{}
	mu       sync.Mutex
	recorded []error
	closed   bool
}

func (r *testRecorder) Ready() error { return nil }

func (r *testRecorder) Record(_ context.Context, _ int64, outcome error) error {
	<-r.let
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recorded = append(r.recorded, outcome)
	return r.err
}

func (r *testRecorder) RecordAll(ctx context.Context, _ []storage.Record, outcomes []error) error {
	for _, outcome := range outcomes {
		_ = r.Record(ctx, 0, outcome)
	}
	return r.err
}

func (r *testRecorder) RecordReset(context.Context) error { return r.err }

func (r *testRecorder) Close() error {
	r.closed = true
	return errors.New("closed")
}

// TestRecorder checks that creates that Close commits are recorded before the recorder is
// closed, and only a create that has stored its plant gets the error of the recorder.
func TestRecorder(t *testing.T) {
	t.Parallel()
	run(t, storage.Limits{}, func(t *testing.T, e *testEngine) {
		e.released, e.lasting = make(chan struct{}), time.Second // Close waits for a lock after it
		r := &testRecorder{err: storage.ErrUnrecorded, let: make(chan struct{})}
		e.store.RecordWith(r)
		stored := e.create(t.Context(), 1, "a")
		same := e.create(t.Context(), 1, "a")
		taken := e.createAll(t.Context(), "a", 2)
		closed := make(chan error, 1)
		go func() { closed <- e.store.Close() }()
		e.commit(t, succeed, 1)
		e.commit(t, func(b []storage.Item) error { b[0].Existing = new(models.Plant); return nil }, 1)
		e.commit(t, func(b []storage.Item) error { b[0].Existing = new(models.Plant); return nil }, 2)
		wantNone(t, "stored", stored)
		<-e.released
		if r.closed {
			t.Error("the recorder is closed while creates are recorded")
		}
		close(r.let)
		if err := <-closed; err == nil || err.Error() != "closed" || !r.closed || len(r.recorded) != 3 {
			t.Errorf("Close = %v after %d records, want the error of the recorder after 3", err, len(r.recorded))
		}
		want(t, "stored", stored, storage.ErrUnrecorded)
		wantExists(t, "of the same id", same, false)
		wantExists(t, "taken", taken, false)
	})
}
