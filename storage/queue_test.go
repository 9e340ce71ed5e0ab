package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// TestBatchIsWhatQueuedDuringTheLastCommit checks that a create waits for the commit in progress
// only, and that a batch is sorted.
func TestBatchIsWhatQueuedDuringTheLastCommit(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		start, commits := time.Now(), []int(nil)
		e.store.ObserveCommits(func(plants int, _ time.Duration) { commits = append(commits, plants) })
		first := e.create(t.Context(), 7, "a")
		var queued []<-chan error
		for _, id := range []int64{3, -1, 9, 7, 0} {
			queued = append(queued, e.create(t.Context(), id, "a"))
		}
		wantNone(t, "first", first)
		e.commit(t, succeed, 7)
		want(t, "first", first)
		wantNone(t, "queued", queued[0])
		e.commit(t, succeed, -1, 0, 3, 7, 9)
		for _, outcome := range queued {
			want(t, "queued", outcome)
		}
		if waited := time.Since(start); waited != 0 || !slices.Equal(commits, []int{1, 5}) {
			t.Errorf("a create waited %v for company; the commits are observed as %v", waited, commits)
		}
	})
}

// TestSameIDInOneBatch creates the plants "a", "a" and "b" with one id at once, and another
// plant. Only the first of an id is tried.
func TestSameIDInOneBatch(t *testing.T) {
	t.Parallel()
	var created error
	identical, different, failed := errIdentical, errDifferent, errHum
	for name, test := range map[string]struct {
		reply func([]storage.Item) error
		want  []error // of "a", "a", "b" and the other plant
	}{
		"new":                 {succeed, []error{created, identical, different, created}},
		"taken by the first":  {taken("a"), []error{identical, identical, different, created}},
		"taken by the third":  {taken("b"), []error{different, different, identical, created}},
		"taken by another":    {taken("c"), []error{different, different, different, created}},
		"commit failed":       {fail(errHum), []error{failed, failed, failed, failed}},
		"taken, commit fails": {func(b []storage.Item) error { return errors.Join(taken("a")(b), errHum) }, []error{identical, identical, different, failed}},
		"item failed":         {failOne(errHum), []error{failed, failed, failed, created}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, func(t *testing.T, e *testEngine) {
				before := e.create(t.Context(), 0, "")
				outcomes := []<-chan error{
					e.create(t.Context(), 5, "a"), e.create(t.Context(), 5, "a"), e.create(t.Context(), 5, "b"), e.create(t.Context(), 6, "other"),
				}
				e.commit(t, succeed, 0)
				want(t, "before", before)
				e.commit(t, test.reply, 5, 6)
				for i, outcome := range outcomes {
					want(t, fmt.Sprint("create ", i), outcome, test.want[i])
				}
			})
		})
	}
}

func TestWithdrawnWhileQueued(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		first := e.create(t.Context(), 1, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		withdrawn := e.create(ctx, 2, "a")
		alone := e.create(ctx, 3, "a")
		stays := e.create(t.Context(), 2, "b")
		time.Sleep(time.Second) // of the bubble's time
		want(t, "withdrawn", withdrawn, storage.ErrOverloaded, context.DeadlineExceeded)
		want(t, "alone", alone, storage.ErrOverloaded, context.DeadlineExceeded)
		e.commit(t, succeed, 1)
		want(t, "first", first)
		e.commit(t, succeed, 2)
		want(t, "stays", stays)
	})
}

// TestContextEndsDuringCommit checks that the outcome of a create that another one commits is unknown
// then, and that the caller may reuse the memory of the tag. The create that runs the commit gets
// its outcome: nothing cancels the commit.
func TestContextEndsDuringCommit(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		ctx, cancel := context.WithCancel(t.Context())
		first := e.create(t.Context(), 1, "a")
		runs := e.create(ctx, 2, "a")
		tag := "fern"
		taken := background(func() error { return e.store.Create(ctx, 3, models.Plant{Name: "a", Tag: &tag}) })
		e.commit(t, succeed, 1)
		want(t, "first", first)
		e.wantBusy(t, 1)
		cancel()
		want(t, "taken", taken, storage.ErrUnknown, context.Canceled)
		wantNone(t, "runs", runs)
		tag = "moss"
		batch := e.next(t, succeed)
		if len(batch) != 2 || batch[1].Plant.Tag == nil || *batch[1].Plant.Tag != "fern" {
			t.Errorf("the engine gets the batch %+v, want 2 plants, one with the tag fern", batch)
		}
		want(t, "runs", runs)
		if err := e.store.Ready(); err != nil {
			t.Errorf("Ready: %v", err)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.store.LimitQueue(2, math.MaxInt)
		for id := range int64(3) { // the first is dequeued at once
			wantNone(t, "create", e.create(t.Context(), id, ""))
		}
		want(t, "one too many", e.create(t.Context(), 3, ""), storage.ErrOverloaded)
		if n := e.store.Stats(); n.QueuedCreates != 2 || n.QueueLimit != 2 {
			t.Errorf("with a full queue of 2: %+v", n)
		}
		e.commit(t, succeed, 0)
		wantNone(t, "create", e.create(t.Context(), 4, ""))
		e.commit(t, succeed, 1, 2)
		e.commit(t, succeed, 4)
	})
	run(t, func(t *testing.T, e *testEngine) {
		e.store.LimitQueue(math.MaxInt, 10)
		ctx, cancel := context.WithCancel(t.Context())
		tag, large := "123", strings.Repeat("x", 100)
		wantNone(t, "larger than the bound", e.create(t.Context(), 0, large))
		wantNone(t, "8 of 10", e.create(ctx, 1, "12345678"))
		if err := e.store.Create(t.Context(), 2, models.Plant{Tag: &tag}); !errors.Is(err, storage.ErrOverloaded) {
			t.Errorf("11 of 10, with a tag: %v, want: %v", err, storage.ErrOverloaded)
		}
		wantNone(t, "10 of 10", e.create(t.Context(), 3, "12"))
		if n := e.store.Stats(); n.QueuedBytes != 10 {
			t.Errorf("with 10 bytes in the queue: %+v", n)
		}
		cancel()
		synctest.Wait()
		wantNone(t, "10 of 10 again", e.create(t.Context(), 4, "12345678"))
		want(t, "11 of 10", e.create(t.Context(), 5, "1"), storage.ErrOverloaded)
		e.commit(t, succeed, 0)
		e.commit(t, succeed, 3, 4)
		wantNone(t, "larger than the bound", e.create(t.Context(), 6, large))
		e.commit(t, succeed, 6)
	})
}

func TestBatchIsBounded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limits  storage.Limits
		sizes   []int // of the plants 1, 2, ...
		batches [][]int64
	}{
		"plants":         {storage.Limits{BatchPlants: 2}, []int{1, 1, 1, 1, 1}, [][]int64{{1, 2}, {3, 4}, {5}}},
		"bytes":          {storage.Limits{BatchBytes: 10}, []int{5, 5, 1, 10, 1, 1}, [][]int64{{1, 2}, {3}, {4}, {5, 6}}},
		"a large one":    {storage.Limits{BatchBytes: 10}, []int{1, 50, 1, 50}, [][]int64{{1}, {2}, {3}, {4}}},
		"nothing at all": {storage.Limits{BatchBytes: 10}, []int{0, 10, 0}, [][]int64{{1, 2, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runWith(t, test.limits, succeed, func(t *testing.T, e *testEngine) {
				e.create(t.Context(), 0, "")
				for i, size := range test.sizes {
					e.create(t.Context(), int64(i+1), strings.Repeat("x", size))
				}
				e.commit(t, succeed, 0)
				for _, ids := range test.batches {
					e.commit(t, succeed, ids...)
				}
			})
		})
	}
}

// TestSeveralWriters commits as many batches at a time as there are writers, and
// lets each have the same id.
func TestSeveralWriters(t *testing.T) {
	t.Parallel()
	runWith(t, storage.Limits{Writers: 2}, succeed, func(t *testing.T, e *testEngine) {
		first := e.create(t.Context(), 1, "a")
		second := e.create(t.Context(), 1, "b")
		third := e.create(t.Context(), 1, "b")
		e.commit(t, succeed, 1)
		e.commit(t, taken("a"), 1)
		e.commit(t, fail(storage.ErrUnavailable), 1)
		want(t, "third", third, storage.ErrUnavailable)
		if one, other := <-first, <-second; (one == nil) == (other == nil) {
			t.Errorf("the outcomes of two writers are %v and %v, want one success", one, other)
		}
		last := e.create(t.Context(), 2, "c")
		closed := background(e.store.Close)
		wantNone(t, "Close", closed)
		e.commit(t, succeed, 2)
		want(t, "last", last)
		want(t, "Close", closed)
	})
}

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
