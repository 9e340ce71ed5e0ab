package storage

import (
	"context"
	"fmt"
	"slices"

	"plantstore/models"
)

// CreateAll is [Store.CreateAll]. Its batches take turns with those of Create,
// so that a bulk of any size delays each create by one batch at most; a batch
// of another CreateAll is queued when it is done.
func (g *GroupCommit) CreateAll(ctx context.Context, records []Record) []error {
	outcomes := make([]error, 0, len(records))
	for len(records) > 0 {
		n := g.limits.fit(records)
		outcomes = append(outcomes, g.createBatch(ctx, records[:n:n])...)
		records = records[n:]
	}
	return outcomes
}

// fit returns how many of the records go into one batch: one at least.
func (l Limits) fit(records []Record) int {
	bytes := 0
	for n, r := range records {
		bytes += sizeOf(r.Plant)
		if n > 0 && (n == l.BatchPlants || bytes > l.BatchBytes) {
			return n
		}
	}
	return len(records)
}

// sizeOf returns the bytes of a plant that [Limits] bound.
func sizeOf(plant models.Plant) int {
	if plant.Tag == nil {
		return len(plant.Name)
	}
	return len(plant.Name) + len(*plant.Tag)
}

// createBatch queues records as one batch and returns their outcomes.
func (g *GroupCommit) createBatch(ctx context.Context, records []Record) []error {
	select {
	case g.bulk <- struct{}{}:
		defer func() { <-g.bulk }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return same(len(records), fmt.Errorf("%w: %w", ErrOverloaded, err))
	}
	// Of this size it goes alone. The writer may have it for longer than the
	// caller waits.
	r := &request{batch: slices.Clone(records), size: g.limits.BatchBytes + 1, done: make(chan error, 1)}
	if err := g.enqueueBatch(r); err != nil {
		return same(len(records), err)
	}
	var err error
	select {
	case err = <-r.done:
	case <-ctx.Done():
		err = g.withdraw(r, ctx.Err())
	}
	if err != nil {
		return same(len(records), err)
	}
	return r.outcomes
}

// enqueueBatch puts a batch into the queue, full or not: there is only one.
func (g *GroupCommit) enqueueBatch(r *request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refusal != nil {
		return g.refusal
	}
	g.queue = append(g.queue, r)
	g.bytes += r.size
	g.work.Signal()
	return nil
}

// same returns n times err.
func same(n int, err error) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}
