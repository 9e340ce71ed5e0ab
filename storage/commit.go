package storage

import (
	"cmp"
	"slices"
	"time"
)

// write commits batches until the store is closed and its queue is drained.
func (s *Store) write(began *time.Time) {
	for batch := s.nextBatch(nil, began); len(batch) > 0; batch = s.nextBatch(batch, began) {
		s.commitRequests(batch)
	}
}

// commitRequests commits a batch, unless the recorder is not ready, passes the outcomes to the
// recorder, and sends them.
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
	if trial := batch[0]; trial.isTrial() { // it goes alone, and is not recorded
		s.commitRecords(nil)
		trial.done <- nil
		return
	}
	err := s.recorderReady()
	if err == nil {
		records := make([]Record, 0, len(batch))
		for _, r := range batch {
			records = append(records, r.records...)
		}
		outcomes := s.commitRecords(records)
		for _, r := range batch {
			n := len(r.records)
			r.outcomes, outcomes = outcomes[:n:n], outcomes[n:]
		}
		s.recordOutcomes(batch)
	}
	for _, r := range batch {
		r.done <- err // from here on the request belongs to its caller again
	}
}

// commitRecords commits records, in any order of their ids, and returns the outcome
// of each. Of records with the same id only the first is tried; its outcome decides the
// others.
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
	err := s.guard("engine", ErrUnknown, func() error { return s.engine.Commit(items) })
	if len(items) > 0 { // else it is a trial
		s.observer(len(items), time.Since(start))
	}
	s.updateHealth(items, err)
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
