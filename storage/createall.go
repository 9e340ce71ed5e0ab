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
		n, _ := fit(s.features, records, Record.Size)
		outcomes = append(outcomes, s.createBatch(ctx, records[:n:n])...)
		records = records[n:]
	}
	return outcomes
}

// createBatch queues records as one batch and returns their outcomes.
func (s *Store) createBatch(ctx context.Context, records []Record) []error {
	select {
	case s.bulk <- struct{}{}:
		defer func() { <-s.bulk }()
	case <-ctx.Done(): // submitTask returns its error
	}
	batch, actor := slices.Clone(records), ActorOf(ctx) // the writer may have them for longer than the caller waits
	var outcomes []error
	err := s.submitTask(ctx, func() error {
		outcomes = s.commitAudited(batch, func(int) *Actor { return actor })
		return nil
	})
	if err != nil {
		return repeat(err, len(records))
	}
	return outcomes
}
