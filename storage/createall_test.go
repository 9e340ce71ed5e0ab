package storage_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"plantstore/models"
	"plantstore/storage"
)

// createAll starts a CreateAll of plants with these ids and waits until it is
// queued. The outcomes come through the channel, one after the other.
func (e *testEngine) createAll(ctx context.Context, name string, ids ...int64) <-chan error {
	var records []storage.Record
	for _, id := range ids {
		records = append(records, storage.Record{ID: id, Plant: models.Plant{Name: name}})
	}
	outcomes := make(chan error, len(ids))
	go func() {
		for _, err := range e.store.CreateAll(ctx, records) {
			outcomes <- err
		}
	}()
	synctest.Wait()
	return outcomes
}

// TestBulkHasItsTurn checks that a bulk is in the next batch, whatever else is queued.
func TestBulkHasItsTurn(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.store.LimitQueue(2, math.MaxInt)
		first := e.create(t.Context(), 1, "a")
		queued, second := e.create(t.Context(), 9, "a"), e.create(t.Context(), 2, "a")
		want(t, "too many", e.create(t.Context(), 3, "a"), storage.ErrOverloaded)
		bulk := e.createAll(t.Context(), "a", 8, 2, 8) // does not care
		wantNone(t, "bulk", bulk)
		e.commit(t, succeed, 1)
		after := e.create(t.Context(), 2, "b")
		want(t, "first", first)
		wantNone(t, "queued", queued)
		e.commit(t, func(batch []storage.Item) error {
			batch[0].Existing = &models.Plant{Name: "b"}
			return nil
		}, 2, 8, 9)
		want(t, "queued", queued)
		wantExists(t, "second", second, false)
		want(t, "8", bulk)
		wantExists(t, "2", bulk, false)
		wantExists(t, "8 again", bulk, true)
		e.commit(t, succeed, 2)
		want(t, "after", after)
	})
}

// wantExists checks that the outcome is there and an ExistsError of that kind.
func wantExists(t *testing.T, name string, outcome <-chan error, identical bool) {
	t.Helper()
	exists, ok := errors.AsType[*storage.ExistsError](<-outcome)
	if !ok || exists.Identical != identical {
		t.Errorf("%s: %+v, want an ExistsError with Identical = %v", name, exists, identical)
	}
}

// TestBulkLetsCreatesPass checks that between the batches of a bulk the creates have their
// turn.
func TestBulkLetsCreatesPass(t *testing.T) {
	t.Parallel()
	runWith(t, storage.Limits{BatchPlants: 2, BatchBytes: 10}, func(t *testing.T, e *testEngine) {
		bulk := e.createAll(t.Context(), "a", 1, 2, 3)
		other := e.createAll(t.Context(), strings.Repeat("x", 6), 4, 5)
		create := e.create(t.Context(), 9, "a")
		e.commit(t, succeed, 1, 2)
		// Either of the two bulks may come next, also in the batch with the create.
		sizes := len(e.next(t))
		want(t, "create", create)
		for sizes < 4 {
			sizes += len(e.next(t))
		}
		for range 3 {
			want(t, "bulk", bulk)
		}
		want(t, "other", other)
		want(t, "other", other)
	})
}

func TestBulkWhoseContextEnds(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		ctx, cancel := context.WithCancel(t.Context())
		taken := e.createAll(ctx, "a", 1)
		wantNone(t, "taken", taken)
		queued := e.createAll(ctx, "a", 2)
		cancel()
		want(t, "taken", taken, storage.ErrUnknown, context.Canceled)
		want(t, "queued", queued, storage.ErrOverloaded, context.Canceled)
		want(t, "late", e.createAll(ctx, "a", 3), storage.ErrOverloaded)
		e.commit(t, succeed, 1)
	})
}

func TestBulkMeetsStopAndClose(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		first := e.create(t.Context(), 1, "a")
		queued := e.createAll(t.Context(), "a", 2, 3)
		e.commit(t, func([]storage.Item) error {
			return &storage.FatalError{Cause: errors.New("disk gone"), Outcome: storage.ErrUnknown}
		}, 1)
		want(t, "first", first, storage.ErrUnknown)
		for _, bulk := range []<-chan error{queued, e.createAll(t.Context(), "a", 4, 5)} {
			want(t, "bulk", bulk, storage.ErrUnavailable)
			want(t, "bulk", bulk, storage.ErrUnavailable)
		}
	})
	run(t, func(t *testing.T, e *testEngine) {
		first := e.createAll(t.Context(), "a", 1)
		wantNone(t, "first", first)
		queued := e.create(t.Context(), 2, "a")
		go func() { _ = e.store.Close() }()
		e.commit(t, fail(storage.ErrNoSpace), 1)
		want(t, "first", first, storage.ErrNoSpace)
		e.commit(t, succeed, 2)
		want(t, "queued", queued)
	})
}
