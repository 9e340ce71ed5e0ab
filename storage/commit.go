package storage

import (
	"cmp"
	"slices"
	"time"
)

// write commits batches until the store is closed and its queue is drained.
func (s *Store) write() {
	for batch, more := s.nextBatch(nil); more; batch, more = s.nextBatch(batch) {
		s.commitRequests(batch)
	}
}

// commitRequests commits a batch, and sends the outcomes.
func (s *Store) commitRequests(batch []*request) {
	s.committing.RLock()
	defer s.committing.RUnlock()
	select {
	case <-s.stopped: // by the reset that the batch has waited for
		for _, r := range batch {
			r.done <- s.accepting()
		}
		return
	default:
	}
	records := make([]Record, 0, len(batch))
	for _, r := range batch {
		records = append(records, r.records...)
	}
	outcomes := s.commitRecords(records)
	for _, r := range batch {
		n := len(r.records)
		r.outcomes, outcomes = outcomes[:n:n], outcomes[n:]
		r.done <- nil // from here on the request belongs to its caller again
	}
}

// commitRecords commits records, in any order of their ids, and returns the outcome
// of each. Of records with the same id only the first is tried; its outcome decides the
// others. The caller holds s.committing.
func (s *Store) commitRecords(records []Record) []error {
	order := make([]int, len(records))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(records[a].ID, records[b].ID) })
	items := make([]Item, 0, len(records))
	for _, i := range order {
		if n := len(items); n == 0 || items[n-1].ID != records[i].ID {
			items = append(items, Item{Record: records[i]})
		}
	}
	start := time.Now()
	err := s.guard(func() error { return s.engine.Commit(items) })
	if len(items) > 0 {
		s.observer(len(items), time.Since(start))
	}
	s.countCommit(items, err)
	outcomes, tried := make([]error, len(records)), -1
	for _, i := range order {
		first := tried < 0 || items[tried].ID != records[i].ID
		if first {
			tried++
		}
		outcomes[i] = items[tried].outcome(records[i].Plant, first, err)
	}
	return outcomes
}
