package storage

import (
	"context"
	"errors"
	"testing"
)

// TestWithdrawPrefersOutcome meets the moment at which a context ends and the
// outcome is there as well.
func TestWithdrawPrefersOutcome(t *testing.T) {
	t.Parallel()
	g := NewGroupCommit(func([]Item) error { return nil }, Limits{})
	defer g.Close()
	for _, outcome := range []error{nil, ErrNoSpace} {
		r := &request{taken: true, done: make(chan error, 1)}
		r.done <- outcome
		if err := g.withdraw(r, context.Canceled); !errors.Is(err, outcome) {
			t.Errorf("withdraw = %v, want: %v", err, outcome)
		}
	}
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	want := Limits{QueuePlants: 10_000, QueueBytes: 64 << 20, BatchPlants: 4096, BatchBytes: 16 << 20, Writers: 1}
	if got := (Limits{}).withDefaults(); got != want {
		t.Errorf("withDefaults of zero = %+v, want %+v", got, want)
	}
	want.BatchPlants = 127
	if got := (Limits{BatchPlants: 127}).withDefaults(); got != want {
		t.Errorf("withDefaults = %+v, want %+v", got, want)
	}
}
