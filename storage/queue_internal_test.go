package storage

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
)

// An idleEngine is an engine that is only closed.
type idleEngine struct{ Engine }

// Close implements [Engine].
func (idleEngine) Close() error { return nil }

// TestWithdrawPrefersOutcome checks the moment at which both the context has ended and there is
// an outcome.
func TestWithdrawPrefersOutcome(t *testing.T) {
	t.Parallel()
	s := New(idleEngine{}, Limits{}, Options{})
	defer func() { _ = s.Close() }()
	for _, outcome := range []error{nil, ErrNoSpace} {
		r := newRequest()
		r.done <- outcome
		if err := s.withdraw(r, context.Canceled); !errors.Is(err, outcome) {
			t.Errorf("withdraw = %v, want: %v", err, outcome)
		}
	}
}

// TestGatherEnds checks that a batch does not wait for creates that keep coming.
func TestGatherEnds(t *testing.T) {
	t.Parallel()
	s := New(idleEngine{}, Limits{BatchPlants: math.MaxInt}, Options{ReadOnly: true}) // without a writer
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
	for name, test := range map[string]struct {
		last, during, after int // plants of the last batch, queued during its commit, and after it
		gathers             bool
	}{
		"the first create":          {0, 0, 1, false},
		"one client":                {1, 0, 1, false},
		"two came at once":          {1, 0, 2, true},
		"several in the last batch": {2, 0, 1, true},
		"queued during the commit":  {1, 1, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := New(idleEngine{}, Limits{}, Options{ReadOnly: true}) // without a writer
			gathered := false
			s.yield = func() { gathered = true }
			s.queue = slices.Repeat([]*request{{}}, test.during)
			go func() {
				synctest.Wait() // nextBatch waits for work, unless creates are queued
				s.mu.Lock()
				defer s.mu.Unlock()
				s.queue = append(s.queue, slices.Repeat([]*request{{}}, test.after)...)
				s.work.Signal()
			}()
			if batch, _ := s.nextBatch(make([]*request, test.last)); len(batch) != test.during+test.after || gathered != test.gathers {
				t.Errorf("%s: a batch of %d, gathered = %t", name, len(batch), gathered)
			}
		})
	}
}
