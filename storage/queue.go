package storage

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"plantstore/models"
)

// A request is a queued create, or another task of a writer. Store.mu guards dequeued and
// withdrawn; the other fields belong to the writer that has dequeued the request until
// the outcome is in done, and to the caller before and after.
type request struct {
	Record

	tag       string       // a copy of the plant's tag: the caller may return before the writer
	task      func() error // instead of a create
	actor     *Actor       // on whose behalf, if creates are recorded
	bytes     int          // of the plant
	dequeued  bool         // a writer has it: the outcome will come through done
	withdrawn bool         // the caller has returned; the request is dropped when it is dequeued
	done      chan error
}

// newRequest returns a request whose channel holds one outcome, so that the writer
// never waits.
func newRequest() *request { return &request{done: make(chan error, 1)} }

// enqueue puts a plant into the queue, or returns why not.
func (s *Store) enqueue(record Record, actor *Actor) (*request, error) {
	size := record.Size()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal != nil {
		return nil, s.refusal
	}
	if len(s.queue) >= s.options.Queue.Plants || (s.bytes > 0 && s.bytes+size > s.options.Queue.Bytes) {
		return nil, fmt.Errorf("%w: %d plants of %d bytes are queued", ErrOverloaded, len(s.queue), s.bytes)
	}
	r, ok := s.requests.Get().(*request)
	if !ok { // the pool is empty
		r = newRequest()
	}
	r.Record, r.actor, r.bytes = record, actor, size
	if tag := record.Plant.Tag; tag != nil {
		r.tag = *tag
		r.Plant.Tag = &r.tag
	}
	s.push(r)
	return r, nil
}

// push appends r to the queue and wakes a writer. The caller holds s.mu.
func (s *Store) push(r *request) {
	s.queue = append(s.queue, r)
	s.bytes += r.bytes
	s.work.Signal()
}

// enqueueTask puts a task into the queue, full or not: there is only one of each kind. A
// writer runs it between two batches.
func (s *Store) enqueueTask(task func() error) (*request, error) {
	r := newRequest()
	r.task, r.bytes = task, s.features.BatchBytes+1 // of this size it goes alone
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal != nil {
		return nil, s.refusal
	}
	s.push(r)
	return r, nil
}

// await waits for the outcome of r, until ctx ends.
func (s *Store) await(ctx context.Context, r *request) error {
	select {
	case err := <-r.done:
		// The writer is done with r. A request that is withdrawn, or left to the
		// writer, is never reused.
		if r.task == nil {
			*r = request{done: r.done}
			s.requests.Put(r)
		}
		return err
	case <-ctx.Done():
		return s.withdraw(r, ctx.Err())
	}
}

// withdraw ends a create whose context has ended. Once a writer has it, the outcome
// is unknown, unless it is there already.
func (s *Store) withdraw(r *request, cause error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !r.dequeued {
		r.withdrawn = true
		r.Plant, r.task = models.Plant{}, nil // free the memory
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

// nextBatch waits for work and returns the next batch in the order of arrival, in
// the memory of the last one. It sets began, the time at which the commit of the batch
// began. An empty batch means that the queue is drained and the store is closing.
func (s *Store) nextBatch(batch []*request, began *time.Time) []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	*began = time.Time{}
	// Further creates are to be expected, unless one client sends one after the other.
	several := len(batch) > 1 || len(s.queue) > 0
	clear(batch)
	batch = batch[:0]
	for len(batch) == 0 {
		for len(s.queue) == 0 && !s.closing {
			s.work.Wait()
		}
		if len(s.queue) == 0 {
			break
		}
		if several || len(s.queue) > 1 {
			s.gather()
		}
		batch = s.dequeue(batch)
	}
	if len(batch) > 0 {
		*began = time.Now()
	}
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
	for unchanged := 0; unchanged < gatherRounds && len(s.queue) < s.features.BatchPlants && time.Since(start) < gatherTime; {
		queued := len(s.queue)
		s.mu.Unlock()
		s.yield()
		s.mu.Lock()
		if unchanged++; len(s.queue) > queued {
			unchanged = 0
		}
	}
}

// dequeue moves the head of the queue to batch, as far as the limits allow, and
// drops withdrawn requests. The caller holds s.mu.
func (s *Store) dequeue(batch []*request) []*request {
	n, bytes := 0, 0
	for _, r := range s.queue {
		full := len(batch) == s.features.BatchPlants || bytes+r.bytes > s.features.BatchBytes
		if !r.withdrawn && full && len(batch) > 0 {
			break
		}
		n++
		if r.withdrawn {
			continue
		}
		r.dequeued = true
		bytes += r.bytes
		batch = append(batch, r)
	}
	s.queue = slices.Delete(s.queue, 0, n)
	s.bytes -= bytes
	return batch
}

// refuse refuses new creates from now on, and lets the writers end when the queue is
// drained. It reports whether this is the first call.
func (s *Store) refuse() (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = !s.closing
	s.closing = true
	if s.refusal == nil {
		s.refusal = fmt.Errorf("%w: it is closed", ErrUnavailable)
	}
	s.work.Broadcast()
	return first
}
