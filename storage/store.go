// Package storage keeps plants. Callers use a [Store], and each database has an [Engine]. The
// engines are the packages below this one. Every engine passes the tests of package storagetest.
//
//	store, err := engines.Open(ctx, "bbolt:data/plants.db", storage.Options{Logger: logger})
//	defer store.Close()
//	err = store.Create(ctx, 7, models.Plant{Name: "Monstera"})
//
// A create goes through three steps:
//
//  1. Queue (queue.go). Create appends the plant to a bounded queue.
//  2. Group commit (commit.go). The create that finds no commit under way runs one. It takes
//     the entire queue, up to the limits of a batch, sorts it by id and leaves out duplicate
//     ids. The engine stores the batch in one transaction, with two syncs of the disk.
//     Meanwhile the next batch queues up, so that many creates share the cost of a commit.
//     No context cancels a commit: the create that runs it waits for it. An engine may run
//     several commits at a time.
//  3. Outcome. Each create gets its own: nil, an ExistsError, or the error of the commit.
//
// CreateAll queues one batch at a time, so that an import delays other creates by at most one
// batch. Reset runs between two commits, so that each create happens before or after it.
//
// # Errors
//
// If writing is no longer safe, the engine stops the store through the [FailStop] that both share.
// Queued and later creates then get ErrUnavailable. The process drains its requests and exits.
//
//	Event                             Stored?  Store      Create gets     HTTP error  Log    Exit code
//	the id is taken                   no       continues  ExistsError     409         -      -
//	the queue is full                 no       continues  ErrOverloaded   503         -      -
//	the context ends in the queue     no       continues  ErrOverloaded   503         -      -
//	the context ends during a commit  unknown  continues  ErrUnknown      500         error  -
//	the record of the id is corrupt   no       continues  ErrCorrupt      500         error  -
//	no space                          no       not ready  ErrNoSpace      507         error  -
//	a database over the network
//	  cannot be reached               no       not ready  ErrUnavailable  503         error  -
//	  does not respond in time        unknown  not ready  ErrUnknown      500         error  -
//	a page is corrupt: bbolt panics   no       stops      ErrCorrupt      500         error  3
//	a write or sync of data fails     no       stops      another error   500         error  1
//	the sync of the meta page fails   unknown  stops      ErrUnknown      500         error  1
//	the file was removed, replaced,
//	or cut short, at most 1 s ago     no       stops      ErrUnavailable  503         error  3
//	the engine panics                 unknown  stops      ErrUnknown      500         error  1
//	the store is closed or stopped    no       -          ErrUnavailable  503         -      -
//
// A store is ready while it is open and its last commit succeeded. New starts with an empty batch,
// and the store commits another one a second after each failed commit. An empty batch needs as
// much space as a create. After ErrNoSpace, only an empty batch makes the store ready again.
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
	engine   Engine
	file     FileEngine // engine, or nil
	failStop *FailStop  // shared with engine
	limits   Limits
	observer func(plants int, took time.Duration) // see ObserveCommits
	running  sync.WaitGroup                       // background work of engine, until done is closed
	done     chan struct{}

	commits chan struct{} // holds a token for each commit under way
	bulk    chan struct{} // holds a token while a batch of CreateAll is queued
	yield   func()        // see gather

	maxPlants, maxBytes int // of the queue

	closing  sync.Once     // see Close
	closed   chan struct{} // closed when closeErr is set
	closeErr error

	mu      sync.Mutex
	queue   []*request
	bytes   int         // of the plants in queue
	several bool        // the last batch had several creates, and so may the next one: see gather
	refusal error       // the error of creates because the store is read-only or closed, or nil
	failure error       // of the last commit
	probing *time.Timer // calls probe after a failed commit
	stats   Stats       // without the state of queue and file
}

// Options are the settings of a store besides its location. Engines ignore options that
// do not apply to them.
type Options struct {
	// Logger gets the messages of the store and of its engine; nil discards them.
	Logger *slog.Logger
	// ReadOnly opens the store for reading: files are neither created nor changed,
	// and creates are refused.
	ReadOnly bool
}

// Log returns Logger, or else a logger that discards all messages.
func (o Options) Log() *slog.Logger { return cmp.Or(o.Logger, slog.New(slog.DiscardHandler)) }

// The queue holds at most queuePlants plants with queueBytes of names and tags. A single plant
// may be larger, and a batch of CreateAll always fits.
const (
	queuePlants = 10_000
	queueBytes  = 64 << 20
)

// New returns a store of the plants in engine, and starts the engine's background work, which
// runs until Close. failStop is the one that engine uses, nil if it uses none. With
// [Options.ReadOnly], Commit and Run of the engine are never called; otherwise New commits an
// empty batch, and the store is not ready if that fails.
func New(engine Engine, failStop *FailStop, limits Limits, options Options) *Store {
	limits.BatchPlants = cmp.Or(limits.BatchPlants, 16_384)
	limits.BatchBytes = cmp.Or(limits.BatchBytes, 16<<20)
	limits.Writers = cmp.Or(limits.Writers, 1)
	s := &Store{
		engine: engine, failStop: cmp.Or(failStop, NewFailStop(options.Log())),
		limits: limits, observer: func(int, time.Duration) {}, done: make(chan struct{}),
		commits: make(chan struct{}, limits.Writers), bulk: make(chan struct{}, 1),
		yield: yield, maxPlants: queuePlants, maxBytes: queueBytes, closed: make(chan struct{}),
	}
	s.file, _ = engine.(FileEngine)
	s.probing = time.AfterFunc(math.MaxInt64, s.probe) // set by countCommit
	if options.ReadOnly {
		s.refusal = fmt.Errorf("%w: it is open for reading only", ErrUnavailable)
		return s
	}
	s.commit(nil)
	if s.file != nil {
		s.running.Go(func() { s.file.Run(s.done) })
	}
	return s
}

// Create stores plant under id. It returns nil only when the plant is durable: a
// power failure right after does not undo it (C5.26). Of any number of racing
// creates of one id, exactly one succeeds.
//
// It returns an *[ExistsError] if the id is taken, [ErrOverloaded] if the queue
// refuses it or ctx ends while it is still queued, [ErrNoSpace],
// [ErrUnavailable], [ErrCorrupt] if the record of the id, or a page on the way to it, is
// corrupt, and [ErrUnknown] if a commit failed in a way, or ctx ended at a time, that leaves
// the outcome open. After it has returned, the caller may change the plant's tag.
func (s *Store) Create(ctx context.Context, id int64, plant models.Plant) error {
	r := newRequest(Record{id, plant})
	r.bounded = true
	if err := s.submit(ctx, r); err != nil {
		return err
	}
	return r.items[0].Err
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
		outcomes[i] = r.items[i].Err
	}
	return outcomes
}

// DryRun returns for each of the records the error that Create would return now, and creates none.
// Of records with the same id, each counts as the only one.
func (s *Store) DryRun(ctx context.Context, records []Record) []error {
	outcomes := make([]error, len(records))
	for i, record := range records {
		switch stored, err := s.Get(ctx, record.ID); {
		case err == nil:
			outcomes[i] = &ExistsError{Stored: stored, Identical: stored.Equal(record.Plant)}
		case !errors.Is(err, ErrNotFound):
			outcomes[i] = err
		}
	}
	return outcomes
}

// Get returns the plant stored under id, or [ErrNotFound], [ErrCorrupt],
// [ErrUnavailable] or the error of ctx.
func (s *Store) Get(ctx context.Context, id int64) (models.Plant, error) {
	return s.engine.Get(ctx, id)
}

// List yields the stored plants with an id of at least from, in ascending order of
// id: negative ids first (C5.29). It ends after the first error that it yields: the
// error of ctx, [ErrCorrupt] or [ErrUnavailable]. It does not block creates, and may
// omit plants that are created while it runs.
func (s *Store) List(ctx context.Context, from int64) iter.Seq2[Record, error] {
	return s.list(ctx, from, false)
}

// ListDescending is List from the other end: it yields the stored plants with an id of at most
// from, in descending order.
func (s *Store) ListDescending(ctx context.Context, from int64) iter.Seq2[Record, error] {
	return s.list(ctx, from, true)
}

func (s *Store) list(ctx context.Context, from int64, descending bool) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for record, err := range s.engine.List(ctx, from, descending) {
			err = cmp.Or(ctx.Err(), err)
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Count returns the number of stored plants. Unless the engine is a [FileEngine], Count
// reads all plants, and returns the errors of List.
func (s *Store) Count(ctx context.Context) (plants int64, err error) {
	if s.file != nil {
		return s.file.Count(ctx)
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
	if s.file != nil {
		return s.file.Check(ctx)
	}
	report := Report{Corruption: []string{}}
	for _, err := range s.engine.List(ctx, math.MinInt64, false) {
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
// store may grow until all is written to w. Unless the engine is a [FileEngine], it
// returns [errors.ErrUnsupported].
func (s *Store) Snapshot(ctx context.Context, w io.Writer) error {
	if s.file != nil {
		return s.file.Snapshot(ctx, w)
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
	stats.Stopped = s.Fault() != nil
	if s.file != nil {
		file := s.file.FileStats()
		stats.File = &file
	}
	return stats
}
