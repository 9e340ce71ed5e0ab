package storage_test

import (
	"context"
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
		bulk := e.createAll(t.Context(), "a", 2, 8, 8) // does not care
		wantNone(t, "bulk", bulk)
		e.commit(t, succeed, 1)
		after := e.create(t.Context(), 2, "b")
		want(t, "first", first)
		e.commit(t, taken("b"), 2, 8, 9)
		want(t, "queued", queued)
		want(t, "second", second, errDifferent)
		want(t, "2", bulk, errDifferent)
		want(t, "8", bulk)
		want(t, "8 again", bulk, errIdentical)
		e.commit(t, succeed, 2)
		want(t, "after", after)
	})
}

// TestBulkLetsCreatesPass checks that between the batches of bulks the creates have their turn,
// and that a bulk keeps to the bounds of a batch.
func TestBulkLetsCreatesPass(t *testing.T) {
	t.Parallel()
	runWith(t, storage.Limits{BatchPlants: 2, BatchBytes: 10}, succeed, func(t *testing.T, e *testEngine) {
		bulk := e.createAll(t.Context(), "a", 1, 2, 3)
		full := e.createAll(t.Context(), "a", 4, 5)
		large := e.createAll(t.Context(), strings.Repeat("x", 6), 6, 7)
		create := e.create(t.Context(), 9, "a")
		e.commit(t, succeed, 1, 2)
		// Any of the bulks may come next, also in the batch with the create.
		plants := len(e.next(t, succeed))
		want(t, "create", create)
		for plants < 6 {
			batch := e.next(t, succeed)
			if plants += len(batch); batch[0].ID == 6 && len(batch) > 1 {
				t.Error("a batch of 12 bytes, want at most 10")
			}
		}
		for range 3 {
			want(t, "bulk", bulk)
		}
		for range 2 {
			want(t, "full", full)
			want(t, "large", large)
		}
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
		want(t, "queued", queued, storage.ErrOverloaded, context.Canceled)
		want(t, "late", e.createAll(ctx, "a", 3), storage.ErrOverloaded)
		wantNone(t, "taken", taken)
		e.commit(t, succeed, 1)
		want(t, "taken", taken)
	})
}
