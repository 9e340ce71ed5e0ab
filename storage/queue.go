package storage

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// A request is a Create in the queue, or a batch of CreateAll. Its fields belong to the commit
// that has dequeued it until that sends to done, and to the caller before and after.
type request struct {
	items   []Item     // whose Err is the outcome
	single  [1]Item    // the memory of items if there is only one
	bytes   int        // of the plants
	bounded bool       // the queue refuses it if it is full
	done    chan error // gets nil when there are outcomes, or the outcome of all creates
}

// newRequest returns a request of clones of the records: the caller may return before the
// commit ends. Its channel has capacity 1, so that a commit never waits for a caller.
func newRequest(records ...Record) *request {
	r := &request{done: make(chan error, 1)}
	r.items = slices.Grow(r.single[:0], len(records))
	for _, record := range records {
		record.Plant = record.Plant.Clone()
		r.items = append(r.items, Item{Record: record})
		r.bytes += record.Size()
	}
	return r
}

// submit queues r and waits for its outcomes. Whenever no commit is under way it runs one itself,
// which ctx neither cancels nor bounds. If it returns an error, that is the outcome of all creates.
// After [ErrUnknown] a commit may still have r.
func (s *Store) submit(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrOverloaded, err)
	}
	if err := s.enqueue(r); err != nil {
		return err
	}
	commits := s.commits
	for {
		select {
		case err := <-r.done: // before another commit
			return err
		default:
		}
		select {
		case err := <-r.done:
			return err
		case commits <- struct{}{}:
			if !s.commitNext() { // another commit has r
				commits = nil
			}
		case <-ctx.Done():
			return s.withdraw(r, ctx.Err())
		}
	}
}

// enqueue appends r to the queue, or returns why not.
func (s *Store) enqueue(r *request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refused(); err != nil {
		return err
	}
	full := len(s.queue) >= s.maxPlants || (s.bytes > 0 && s.bytes+r.bytes > s.maxBytes)
	if full && r.bounded {
		return fmt.Errorf("%w: %d plants of %d bytes are queued", ErrOverloaded, len(s.queue), s.bytes)
	}
	s.queue = append(s.queue, r)
	s.bytes += r.bytes
	return nil
}

// withdraw removes r from the queue, since its context has ended. Once a commit has it, the
// outcome is unknown, unless it is there already.
func (s *Store) withdraw(r *request, cause error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.queue, r); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
		s.bytes -= r.bytes
		return fmt.Errorf("%w: %w", ErrOverloaded, cause)
	}
	select {
	case err := <-r.done:
		return err
	default:
		return fmt.Errorf("%w: %w", ErrUnknown, cause)
	}
}

// nextBatch removes the next batch from the queue, in the order of arrival. It is empty if the queue is.
func (s *Store) nextBatch() (batch []*request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.several || len(s.queue) > 1 {
		s.gather()
	}
	n, bytes := fit(s, s.queue, func(r *request) (plants, bytes int) { return len(r.items), r.bytes })
	batch, s.several = slices.Clone(s.queue[:n]), n > 1
	s.queue = slices.Delete(s.queue, 0, n)
	s.bytes -= bytes
	return batch
}

const (
	// gatherRounds is how often in a row gather must find no further creates before it
	// ends: more rounds make no difference.
	gatherRounds = 4
	// gatherTime bounds it, should other processes take long or creates never pause.
	gatherTime = 2 * time.Millisecond
)

// yield lets other runnable goroutines, and on Linux other threads, run first.
func yield() {
	runtime.Gosched()
	yieldThread()
}

// gather yields for as long as others bring more plants and the batch is not full. Where
// processors are idle it takes microseconds. Where clients and server compete for them,
// it makes batches larger: otherwise each commit would find half of the clients in the
// queue. The caller holds s.mu.
func (s *Store) gather() {
	start := time.Now()
	for unchanged := 0; unchanged < gatherRounds && len(s.queue) < s.limits.BatchPlants && time.Since(start) < gatherTime; {
		queued := len(s.queue)
		s.mu.Unlock()
		s.yield()
		s.mu.Lock()
		if unchanged++; len(s.queue) > queued {
			unchanged = 0
		}
	}
}

// fit returns how many of the first items go into one batch, at least one if there are any, and
// their bytes.
func fit[T any](s *Store, items []T, size func(T) (plants, bytes int)) (n, bytes int) {
	plants := 0
	for _, item := range items {
		morePlants, moreBytes := size(item)
		plants += morePlants
		if n > 0 && (plants > s.limits.BatchPlants || bytes+moreBytes > s.limits.BatchBytes) {
			break
		}
		n, bytes = n+1, bytes+moreBytes
	}
	return n, bytes
}
