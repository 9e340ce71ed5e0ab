package storage

import (
	"context"
	"slices"
)

// CreateAll creates many plants in few commits and returns for each of the records,
// in their order, the error that Create would have returned. It is fastest if their ids
// ascend. A commit stores all of its plants that can be stored, or none. Of plants with
// the same id the first counts. Where Create is overloaded it waits until ctx ends; plants
// that were not stored by then get [ErrOverloaded].
func (s *Store) CreateAll(ctx context.Context, records []Record) []error {
	outcomes := make([]error, 0, len(records))
	for len(records) > 0 {
		n, bytes := fit(s, records, func(r Record) (plants, bytes int) { return 1, r.Size() })
		outcomes = append(outcomes, s.createBatch(ctx, records[:n], bytes)...)
		records = records[n:]
	}
	return outcomes
}

// createBatch queues records as one request and returns their outcomes.
func (s *Store) createBatch(ctx context.Context, records []Record, bytes int) []error {
	select {
	case s.bulk <- struct{}{}:
		defer func() { <-s.bulk }()
	case <-ctx.Done(): // submit returns its error
	}
	// The writer may have the records for longer than the caller waits.
	r := newRequest()
	r.records, r.bytes = slices.Clone(records), bytes
	if err := s.submit(ctx, r); err != nil {
		return slices.Repeat([]error{err}, len(records))
	}
	return r.outcomes
}
