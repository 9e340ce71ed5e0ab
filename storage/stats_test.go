package storage_test

import (
	"math"
	"slices"
	"testing"
	"time"
)

// TestStats checks that the statistics have the queued, the failed and the stored creates at
// each moment.
func TestStats(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.store.LimitQueue(7, math.MaxInt)
		var commits []int
		var took time.Duration
		e.store.ObserveCommits(func(plants int, d time.Duration) { commits, took = append(commits, plants), took+d })
		if n := e.store.Stats(); n.QueuedCreates != 0 || n.QueueLimit != 7 {
			t.Errorf("at first: %+v", n)
		}
		e.create(t.Context(), 1, "a")
		second, third := e.create(t.Context(), 2, "bb"), e.create(t.Context(), 2, "bb")
		if n := e.store.Stats(); n.QueuedCreates != 2 || n.QueuedBytes != 4 {
			t.Errorf("with two in the queue: %+v", n)
		}
		time.Sleep(3 * time.Second) // the duration of the first commit
		e.commit(t, fail(errHum), 1)
		n := e.store.Stats()
		if n.FailedCommits != 1 || n.Created != 0 || n.QueuedCreates != 0 || n.QueuedBytes != 0 {
			t.Errorf("after a failed commit: %+v", n)
		}
		if len(commits) != 1 || took != 3*time.Second {
			t.Errorf("a commit of 3 s is observed as %v in %v", commits, took)
		}
		e.commit(t, succeed, 2)
		want(t, "second", second)
		want(t, "third", third, errIdentical)
		e.createNow(t, 3, taken("c"), errDifferent)
		n = e.store.Stats()
		if n.FailedCommits != 1 || n.Created != 1 || !slices.Equal(commits, []int{1, 1, 1}) {
			t.Errorf("after one plant, and an id that is taken: %+v, commits %v", n, commits)
		}
	})
}
