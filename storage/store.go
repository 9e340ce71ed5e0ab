// Package storage keeps plants: a [Store] for callers that create and read plants, an
// [Engine] for each database. The engines are the packages below this one; every
// engine passes the suite of package storagetest.
//
//	store, err := engines.Open(ctx, "bbolt:data/plants.db", storage.Options{Logger: logger})
//	defer store.Close()
//	err = store.Create(ctx, 7, models.Plant{Name: "Monstera"})
//
// A create goes through three steps:
//
//  1. Queue (queue.go). Create appends the plant to a bounded queue and waits. A full
//     queue refuses the create with ErrOverloaded. A create whose context ends while
//     it is queued leaves the queue; after a writer has dequeued it, its outcome is unknown.
//  2. Group commit (commit.go). A writer goroutine dequeues all creates, up to
//     the limits of a batch, sorts it by id, leaves out ids that come twice, and has
//     the engine commit it: one transaction, one sync of the disk. Meanwhile the next
//     batch queues up, so that many creates share the cost of a commit and none waits
//     for later ones. An engine may have several writers.
//  3. Outcome. Each create gets its own: nil, an ExistsError, or the error of the
//     commit.
//
// CreateAll queues whole batches, one at a time, so that a bulk import delays
// other creates by at most one batch. Reset replaces the engine between two commits, which
// orders it before or after each create.
//
// A store is ready while it is open, has not stopped, and its last commit has succeeded.
// After a failed commit it queues an empty batch each second until one succeeds. A store
// stops permanently (fail-stop, lifecycle.go) when the engine returns a [FatalError], reports
// a fault from its background work, or panics: queued and later creates get
// ErrUnavailable, and Stopped lets the process end and be restarted.
package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"plantstore/models"
)

// A Store keeps plants in an engine, each under an id that is used once, unless the plants
// are reset. Its methods may be called from any number of goroutines at once.
type Store struct {
	limits   Limits
	options  Options
	observer func(plants int, took time.Duration) // see ObserveCommits

	resetting   sync.RWMutex // locked during a Reset, read-locked during a Snapshot
	committing  sync.RWMutex // locked while a Reset replaces the engine, read-locked during a commit; guards engine
	engine      Engine
	closeEngine func() error // ends its background work and closes it, once

	writers sync.WaitGroup
	yield   func()        // see gather
	bulk    chan struct{} // holds a token while a batch of CreateAll is queued

	maxPlants, maxBytes int // of the queue

	stopping sync.Once     // see stop
	stopped  chan struct{} // closed by stop
	closing  sync.Once     // see Close
	closed   chan struct{} // closed when closeErr is set
	closeErr error

	mu       sync.Mutex
	work     sync.Cond // the queue is no longer empty, or draining has begun
	queue    []*request
	bytes    int         // of the plants in queue
	draining bool        // the writers end when the queue is empty
	refusal  error       // the error of creates; nil while they are accepted
	failure  error       // of the last commit
	probing  *time.Timer // calls probe after a failed commit
	stats    Stats       // without the state of queue and file
}

// Options are the settings of a store besides its location. Engines ignore options that
// do not apply to them.
type Options struct {
	// Logger gets the messages of the store and of its engine; nil discards them.
	Logger *slog.Logger
	// ReadOnly opens the store for reading: files are neither created nor changed,
	// and creates are refused.
	ReadOnly bool
	// JournalBytes is the size in bytes of the journal of an engine that has one, 0
	// for none.
	JournalBytes int64
}

// Log returns Logger, or else a logger that discards all messages.
func (o Options) Log() *slog.Logger { return cmp.Or(o.Logger, slog.New(slog.DiscardHandler)) }

// The queue holds at most queuePlants plants with queueBytes of names and tags. A single plant
// may be larger, and a batch of CreateAll always fits.
const (
	queuePlants = 10_000
	queueBytes  = 64 << 20
)

// New returns a store of the plants in engine, and starts its goroutines, which run
// until Close. With [Options.ReadOnly], Commit and Run of the engine are never called.
func New(engine Engine, limits Limits, options Options) *Store {
	limits.BatchPlants = cmp.Or(limits.BatchPlants, 16_384)
	limits.BatchBytes = cmp.Or(limits.BatchBytes, 16<<20)
	limits.Writers = cmp.Or(limits.Writers, 1)
	s := &Store{
		limits: limits, options: options, observer: func(int, time.Duration) {},
		yield: yield, bulk: make(chan struct{}, 1), maxPlants: queuePlants, maxBytes: queueBytes,
		stopped: make(chan struct{}), closed: make(chan struct{}),
	}
	s.work.L = &s.mu
	s.probing = time.AfterFunc(probePause, s.probe)
	s.start(engine)
	if options.ReadOnly {
		s.refusal = fmt.Errorf("%w: it is open for reading only", ErrUnavailable)
		return s
	}
	for range limits.Writers {
		s.writers.Go(s.write)
	}
	return s
}

// Create stores plant under id. It returns nil only when the plant is durable: a
// power failure right after does not undo it (C5.26). Of any number of racing
// creates of one id, exactly one succeeds.
//
// It returns an *[ExistsError] if the id is taken, [ErrOverloaded] if the queue
// refuses it or ctx ends while it is still queued, [ErrNoSpace],
// [ErrUnavailable], [ErrCorrupt] if the id is taken by a corrupt record, and
// [ErrUnknown] if a commit failed in a way, or ctx ended at a time, that leaves the
// outcome open. After it has returned, the caller may change the plant's tag.
func (s *Store) Create(ctx context.Context, id int64, plant models.Plant) error {
	r := newRequest(Record{id, plant})
	r.bounded = true
	if err := s.submit(ctx, r); err != nil {
		return err
	}
	return r.creates[0].outcome
}

// CreateAll creates many plants in few commits and returns for each of the records,
// in their order, the error that Create would have returned. It is fastest if their ids
// ascend. A commit stores all of its plants that can be stored, or none. Of plants with
// the same id the first counts. Where Create is overloaded it waits until ctx ends; plants
// that were not stored by then get [ErrOverloaded].
func (s *Store) CreateAll(ctx context.Context, records []Record) []error {
	outcomes := make([]error, 0, len(records))
	for len(records) > 0 {
		n, _ := fit(s, records, func(r Record) (plants, bytes int) { return 1, r.Size() })
		outcomes = append(outcomes, s.createBatch(ctx, records[:n])...)
		records = records[n:]
	}
	return outcomes
}

// createBatch queues records as one request and returns their outcomes.
func (s *Store) createBatch(ctx context.Context, records []Record) []error {
	select {
	case s.bulk <- struct{}{}:
		defer func() { <-s.bulk }()
	case <-ctx.Done(): // submit returns its error
	}
	r := newRequest(records...)
	err := s.submit(ctx, r)
	outcomes := slices.Repeat([]error{err}, len(records))
	for i := 0; err == nil && i < len(outcomes); i++ {
		outcomes[i] = r.creates[i].outcome
	}
	return outcomes
}

// Get returns the plant stored under id, or [ErrNotFound], [ErrCorrupt],
// [ErrUnavailable] or the error of ctx.
func (s *Store) Get(ctx context.Context, id int64) (models.Plant, error) {
	return s.current().Get(ctx, id)
}

// List yields the stored plants with an id of at least from, in ascending order of
// id: negative ids first (C5.29). It ends after the first error that it yields: the
// error of ctx, [ErrCorrupt] or [ErrUnavailable]. It does not block creates, and may
// omit plants that are created while it runs.
func (s *Store) List(ctx context.Context, from int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for record, err := range s.current().List(ctx, from) {
			err = cmp.Or(ctx.Err(), err)
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Count returns the number of stored plants. Unless the engine is a [Counter], Count
// reads all plants, and returns the errors of List.
func (s *Store) Count(ctx context.Context) (plants int64, err error) {
	if engine, ok := s.current().(Counter); ok {
		return engine.Count(ctx)
	}
	for _, err := range s.List(ctx, math.MinInt64) {
		if err != nil {
			return 0, err
		}
		plants++
	}
	return plants, nil
}

// Check reads all records without changing them and returns its findings. The store must be open
// for reading. An error means that the check failed. Findings are not errors.
func (s *Store) Check(ctx context.Context) (Report, error) {
	engine := s.current()
	if engine, ok := engine.(Checker); ok {
		return engine.Check(ctx)
	}
	report := Report{Corruption: []string{}}
	for _, err := range engine.List(ctx, math.MinInt64) {
		switch {
		case err == nil:
			report.Plants++
		case errors.Is(err, ErrCorrupt):
			report.Add("%v", err)
		default:
			return report, err
		}
	}
	return report, nil
}

// Snapshot writes a consistent copy of the store, in the form in which the engine opens
// it. It has every plant whose create has returned nil before. Creates continue, but the
// store may grow until all is written to w. Unless the engine is a [Snapshotter], it
// returns [errors.ErrUnsupported].
func (s *Store) Snapshot(ctx context.Context, w io.Writer) error {
	s.resetting.RLock()
	defer s.resetting.RUnlock()
	if engine, ok := s.current().(Snapshotter); ok {
		return engine.Snapshot(ctx, w)
	}
	return fmt.Errorf("this engine has no snapshots: %w", errors.ErrUnsupported)
}

// ObserveCommits makes the store call f after each commit of plants, with their number and its
// duration, all attempts included. It must be called before the first create.
func (s *Store) ObserveCommits(f func(plants int, took time.Duration)) { s.observer = f }

// Stats returns the current statistics. It is cheap for stores of any size, and needs no
// other machine.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	stats := s.stats
	stats.QueuedCreates, stats.QueuedBytes, stats.QueueLimit = len(s.queue), s.bytes, s.maxPlants
	s.mu.Unlock()
	if engine, ok := s.current().(FileStatter); ok {
		file := engine.FileStats()
		stats.File = &file
	}
	return stats
}
