package storage

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
)

// newIdle returns a store that is only a queue.
func newIdle(limits Limits) *Store { return New(nil, nil, limits, Options{ReadOnly: true}) }

// TestWithdrawPrefersOutcome checks the moment at which both the context has ended and there is
// an outcome.
func TestWithdrawPrefersOutcome(t *testing.T) {
	t.Parallel()
	for _, outcome := range []error{nil, ErrNoSpace} {
		r := newRequest()
		r.done <- outcome
		if err := newIdle(Limits{}).withdraw(r, context.Canceled); !errors.Is(err, outcome) {
			t.Errorf("withdraw = %v, want: %v", err, outcome)
		}
	}
}

// TestGather checks that a batch waits for further creates unless one client alone brings them,
// one after the other, and does not wait for creates that keep coming.
func TestGather(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		last, queued, want int // creates of the last batch, in the queue, and in the next batch
	}{{0, 0, 0}, {0, 1, 1}, {1, 1, 1}, {2, 1, 3}, {0, 2, 3}, {0, 5, 6}} {
		s := newIdle(Limits{})
		s.queue = slices.Repeat([]*request{{}}, test.last)
		s.nextBatch()
		queued, want := test.queued, test.want
		s.queue = slices.Repeat([]*request{{}}, queued)
		s.yield = func() { // another create arrives
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.queue) < want {
				s.queue = append(s.queue, &request{})
			}
		}
		if batch := s.nextBatch(); len(batch) != want {
			t.Errorf("after a batch of %d, with %d creates in the queue, the batch has %d, want %d", test.last, queued, len(batch), want)
		}
	}
	s := newIdle(Limits{BatchPlants: math.MaxInt})
	s.queue = slices.Repeat([]*request{{}}, 2)
	s.yield = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.queue = append(s.queue, &request{})
	}
	if batch := s.nextBatch(); len(batch) <= gatherRounds {
		t.Errorf("%d creates were gathered, though more came in each round", len(batch))
	}
}

// A fastEngine commits at once.
type fastEngine struct{ Engine }

func (fastEngine) Commit([]Item) error { return nil }

func (fastEngine) Close() error { return nil }

// TestNobodyIsLeftInQueue checks that a create that finds another one in the queue, which nobody commits,
// commits that and then itself, and that Close commits what it finds.
func TestNobodyIsLeftInQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(fastEngine{}, nil, Limits{BatchPlants: 1}, Options{})
		first := newRequest(Record{ID: 1})
		if err := s.enqueue(first); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan error, 1)
		go func() { second <- s.submit(ctx, newRequest(Record{ID: 2})) }()
		synctest.Wait()
		cancel() // ends one that waits forever
		if err := <-second; err != nil {
			t.Errorf("the second create: %v, want that it has committed both", err)
		}
		if err := <-first.done; err != nil {
			t.Errorf("the first create: %v", err)
		}
		last := newRequest(Record{ID: 3})
		if err := errors.Join(s.enqueue(last), s.Close()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case err := <-last.done:
			if err != nil {
				t.Errorf("the last create: %v", err)
			}
		default:
			t.Error("Close left a create in the queue")
		}
	})
}

// TestFirstOfSameIDCounts creates many plants in one call, ten of each id.
func TestFirstOfSameIDCounts(t *testing.T) {
	t.Parallel()
	s := New(fastEngine{}, nil, Limits{}, Options{})
	records := make([]Record, 100)
	for i := range records {
		records[i].ID = int64(i % 10)
	}
	for i, err := range s.CreateAll(t.Context(), records) {
		if (err == nil) != (i < 10) {
			t.Errorf("plant %d: %v, want only the first 10 created", i, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
