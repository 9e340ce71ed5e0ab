package storage

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
)

// A commitFunc is an engine that only commits.
type commitFunc struct {
	Engine

	commit func(batch []Item) error
}

// Commit implements [Engine].
func (f commitFunc) Commit(batch []Item) error { return f.commit(batch) }

// Close implements [Engine].
func (f commitFunc) Close() error { return nil }

// TestWithdrawPrefersOutcome checks the moment at which both the context has ended and there is
// an outcome.
func TestWithdrawPrefersOutcome(t *testing.T) {
	t.Parallel()
	s := New(commitFunc{}, Limits{}, Options{})
	defer func() { _ = s.Close() }()
	for _, outcome := range []error{nil, ErrNoSpace} {
		r := newRequest(nil)
		r.done <- outcome
		if err := s.withdraw(r, context.Canceled); !errors.Is(err, outcome) {
			t.Errorf("withdraw = %v, want: %v", err, outcome)
		}
	}
}

// TestGatherEnds checks that a batch does not wait for creates that keep coming.
func TestGatherEnds(t *testing.T) {
	t.Parallel()
	s := New(commitFunc{}, Limits{BatchPlants: math.MaxInt}, Options{ReadOnly: true}) // without a writer
	s.yield = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.queue = append(s.queue, &request{})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gather()
	if len(s.queue) <= gatherRounds {
		t.Errorf("%d creates were gathered, though more came in each round", len(s.queue))
	}
}

// TestGatherOnlyAmongSeveral checks that a batch waits for further creates unless one
// client alone brings them, one after the other.
func TestGatherOnlyAmongSeveral(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		last, queued int // plants of the last batch, and plants queued since
		gathers      bool
	}{
		{"the first create", 0, 1, false},
		{"one client", 1, 1, false},
		{"two came at once", 1, 2, true},
		{"several in the last batch", 2, 1, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := New(commitFunc{}, Limits{}, Options{ReadOnly: true}) // without a writer
				gathered := false
				s.yield = func() { gathered = true }
				go func() {
					synctest.Wait() // nextBatch waits for work
					s.mu.Lock()
					defer s.mu.Unlock()
					for range test.queued {
						s.queue = append(s.queue, &request{})
					}
					s.work.Signal()
				}()
				if batch, _ := s.nextBatch(make([]*request, test.last)); len(batch) != test.queued || gathered != test.gathers {
					t.Errorf("a batch of %d, gathered = %t, want %d and %t", len(batch), gathered, test.queued, test.gathers)
				}
			})
		})
	}
	t.Run("queued during the commit", func(t *testing.T) {
		t.Parallel()
		s := New(commitFunc{}, Limits{}, Options{ReadOnly: true})
		gathered := false
		s.yield = func() { gathered = true }
		s.queue = append(s.queue, &request{})
		if _, _ = s.nextBatch(make([]*request, 1)); !gathered {
			t.Error("the batch does not wait, though two clients take turns")
		}
	})
}
