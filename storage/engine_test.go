package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/watchdog"
	"plantstore/models"
	"plantstore/storage"
)

// A testEngine passes each batch to the test and waits for its outcome.
type testEngine struct {
	storage.FileEngine // nil: no test reads

	store    *storage.Store
	failStop *storage.FailStop
	batches  chan []storage.Item
	replies  chan func(batch []storage.Item) error
	busy     atomic.Int64  // commits and resets that are under way
	lasting  time.Duration // of Run after its context has ended
	ended    bool          // Run
	closed   bool
	late     bool // Run, which had not ended when the engine was closed
	log      bytes.Buffer
}

// Commit implements [storage.Engine].
func (e *testEngine) Commit(batch []storage.Item) error {
	e.busy.Add(1)
	defer e.busy.Add(-1)
	e.batches <- slices.Clone(batch)
	return (<-e.replies)(batch)
}

// Reset implements [storage.FileEngine]. The test sees it as a batch.
func (e *testEngine) Reset(records []storage.Record) error {
	batch := make([]storage.Item, len(records))
	for i, record := range records {
		batch[i].Record = record
	}
	return e.Commit(batch)
}

// Close implements [storage.Engine].
func (e *testEngine) Close() error {
	e.closed, e.late = true, !e.ended
	return nil
}

// Run implements [storage.FileEngine].
func (e *testEngine) Run(done <-chan struct{}) {
	<-done
	time.Sleep(e.lasting)
	e.ended = true
}

// FileStats implements [storage.FileEngine].
func (e *testEngine) FileStats() storage.FileStats { return storage.FileStats{} }

// run runs a test in a bubble, with a store over a testEngine.
func run(t *testing.T, test func(t *testing.T, e *testEngine)) {
	t.Helper()
	runWith(t, storage.Limits{}, succeed, test)
}

// runWith is run with limits, and with the reply to the first empty batch.
func runWith(t *testing.T, limits storage.Limits, first func([]storage.Item) error, test func(t *testing.T, e *testEngine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := &testEngine{batches: make(chan []storage.Item), replies: make(chan func([]storage.Item) error)}
		logger := slog.New(slog.NewTextHandler(&e.log, nil))
		e.failStop = storage.NewFailStop(logger)
		go func() { e.store = storage.New(e, e.failStop, limits, storage.Options{Logger: logger}) }()
		e.commit(t, first)
		test(t, e)
		_ = e.store.Close()
	})
}

// background calls f in a goroutine and waits until everything else waits. Its result comes
// through the channel.
func background(f func() error) <-chan error {
	outcome := make(chan error, 1)
	go func() { outcome <- f() }()
	synctest.Wait()
	return outcome
}

// create starts a create and waits until it is queued.
func (e *testEngine) create(ctx context.Context, id int64, name string) <-chan error {
	return background(func() error { return e.store.Create(ctx, id, models.Plant{Name: name}) })
}

// createNow creates a plant, replies to its commit, and checks its outcome.
func (e *testEngine) createNow(t *testing.T, id int64, reply func([]storage.Item) error, wanted ...error) {
	t.Helper()
	outcome := e.create(t.Context(), id, "a")
	e.commit(t, reply, id)
	want(t, fmt.Sprintf("the create of id %d", id), outcome, wanted...)
}

// reset starts a reset to a plant with the id 10.
func (e *testEngine) reset(ctx context.Context) <-chan error {
	return background(func() error { return e.store.Reset(ctx, []storage.Record{{ID: 10}}) })
}

// succeed is a reply: all new, all stored.
func succeed([]storage.Item) error { return nil }

// fail returns a reply: the commit failed.
func fail(err error) func([]storage.Item) error {
	return func([]storage.Item) error { return err }
}

// failOne returns a reply: the first plant was not stored.
func failOne(err error) func([]storage.Item) error {
	return func(batch []storage.Item) error {
		batch[0].Err = err
		return nil
	}
}

// taken returns a reply: the first id is taken by a plant of that name.
func taken(name string) func([]storage.Item) error {
	return func(batch []storage.Item) error {
		batch[0].Existing = &models.Plant{Name: name}
		return nil
	}
}

// next returns the next batch, and replies to it.
func (e *testEngine) next(t *testing.T, reply func([]storage.Item) error) []storage.Item {
	t.Helper()
	synctest.Wait()
	select {
	case batch := <-e.batches:
		e.replies <- reply
		synctest.Wait()
		return batch
	default:
		t.Fatal("no batch")
		return nil
	}
}

// commit checks which ids the next batch has, and replies to it.
func (e *testEngine) commit(t *testing.T, reply func([]storage.Item) error, wantIDs ...int64) {
	t.Helper()
	var ids []int64
	for _, item := range e.next(t, reply) {
		ids = append(ids, item.ID)
	}
	if !slices.Equal(ids, wantIDs) {
		t.Errorf("the batch has the ids %v, want %v", ids, wantIDs)
	}
}

// These stand for an ExistsError of that kind.
var errIdentical, errDifferent = errors.New("the id is taken by an identical plant"), errors.New("the id is taken by a different plant")

// want checks that the outcome is there and matches all of wanted, or is nil.
func want(t *testing.T, name string, outcome <-chan error, wanted ...error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-outcome:
		if exists, ok := errors.AsType[*storage.ExistsError](err); ok && exists.Identical {
			err = errIdentical
		} else if ok {
			err = errDifferent
		}
		if len(wanted) == 0 && err != nil {
			t.Errorf("%s: %v, want nil", name, err)
		}
		for _, w := range wanted {
			if !errors.Is(err, w) {
				t.Errorf("%s: %v, want: %v", name, err, w)
			}
		}
	default:
		t.Errorf("%s: no outcome", name)
	}
}

// wantNone checks that there is no outcome yet.
func wantNone(t *testing.T, name string, outcome <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-outcome:
		t.Errorf("%s: %v, before the commit was done", name, err)
	default:
	}
}

func TestMain(m *testing.M) { watchdog.Main(m) }
