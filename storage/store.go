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
//     the bounds of a batch, sorts it by id, leaves out ids that come twice, and has
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
// A store is ready (ready.go) while it is open, has not stopped, and its last commit has
// succeeded. After a failed commit a writer commits an empty batch each second until one
// succeeds. A store stops permanently (fail-stop) when the engine returns a [FatalError],
// reports a fault from its background work, or panics: queued and later creates get
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
	"sync"
	"time"

	"plantstore/models"
)

// A Store keeps plants in an engine, each under an id that is used once, unless the plants
// are reset. Its methods may be called from any number of goroutines at once.
type Store struct {
	limits   Features // the bounds of a batch
	options  Options
	observer func(plants int, took time.Duration) // see ObserveCommits
	stopping sync.Once                            // see stop
	stopped  chan struct{}                        // closed by stop

	resetting  sync.RWMutex // locked during a Reset, read-locked during a Snapshot
	committing sync.RWMutex // locked while a Reset replaces the engine, read-locked during a commit; guards opened
	opened     *opened

	requests sync.Pool // of creates that have ended

	yield   func() // see gather
	writers sync.WaitGroup
	bulk    chan struct{} // holds a token while a batch of CreateAll is queued

	closeOnce sync.Once
	closed    chan struct{} // closed when closeErr is set
	closeErr  error

	mu       sync.Mutex
	work     sync.Cond // the queue is no longer empty, or closing has begun
	queue    []*request
	bytes    int         // of the plants in queue
	closing  bool        // the writers end when the queue is empty
	refusal  error       // the error of creates; nil while they are accepted
	failure  error       // of the last commit
	retry    *time.Timer // sets retryDue after a failed commit
	retryDue bool        // a writer is to commit an empty batch
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
	// AllowCorrupt opens a store with corrupt files for reading, as far as that is
	// possible. Check reports the files that could not be opened, and missing commits.
	AllowCorrupt bool
	// QueuePlants bounds the plants that wait for a batch, 10,000 by default, and QueueBytes
	// the bytes of their names and tags, 64 MiB. A single plant may be larger.
	QueuePlants, QueueBytes int
	// JournalBytes is the size in bytes of the journal of an engine that has one, 0
	// for none.
	JournalBytes int64
}

// Log returns Logger, or else a logger that discards all messages.
func (o Options) Log() *slog.Logger { return cmp.Or(o.Logger, slog.New(slog.DiscardHandler)) }

// New returns a store of the plants in engine, and starts its goroutines, which run
// until Close. With [Options.ReadOnly], Commit and Run of the engine are never called.
func New(engine Engine, features Features, options Options) *Store {
	features.BatchPlants = cmp.Or(features.BatchPlants, 4096)
	features.BatchBytes = cmp.Or(features.BatchBytes, 16<<20)
	features.Writers = cmp.Or(features.Writers, 1)
	options.QueuePlants = cmp.Or(options.QueuePlants, 10_000)
	options.QueueBytes = cmp.Or(options.QueueBytes, 64<<20)
	s := &Store{
		limits: features, options: options, observer: func(int, time.Duration) {},
		yield: yield, stopped: make(chan struct{}), closed: make(chan struct{}), bulk: make(chan struct{}, 1),
	}
	s.work.L = &s.mu
	s.requests.New = func() any { return newRequest() }
	s.retry = time.AfterFunc(retryPause, s.retryCommit)
	s.retry.Stop() // until a commit fails
	s.opened = s.start(engine, features)
	if options.ReadOnly {
		s.refusal = fmt.Errorf("%w: it is open for reading only", ErrUnavailable)
		return s
	}
	for range features.Writers {
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
	r := s.requests.Get().(*request) //nolint:forcetypeassert // nothing else is put there
	r.set(Record{ID: id, Plant: plant})
	err := s.submit(ctx, r)
	if err == nil {
		err = r.outcomes[0]
	}
	if !errors.Is(err, ErrUnknown) { // else a writer may still have it
		*r = request{done: r.done}
		s.requests.Put(r)
	}
	return err
}

// Get returns the plant stored under id, or [ErrNotFound], [ErrCorrupt],
// [ErrUnavailable] or the error of ctx.
func (s *Store) Get(ctx context.Context, id int64) (models.Plant, error) {
	return s.current().engine.Get(ctx, id)
}

// List yields the stored plants with an id of at least from, in ascending order of
// id: negative ids first (C5.29). It ends after the first error that it yields: the
// error of ctx, [ErrCorrupt] or [ErrUnavailable]. It does not block creates, and may
// omit plants that are created while it runs.
func (s *Store) List(ctx context.Context, from int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for record, err := range s.current().engine.List(ctx, from) {
			err = cmp.Or(ctx.Err(), err)
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Count returns the number of stored plants. If the engine does not keep it, Count
// reads all plants, and returns the errors of List.
func (s *Store) Count(ctx context.Context) (plants int64, err error) {
	if count := s.current().features.Count; count != nil {
		return count(ctx)
	}
	for _, err := range s.List(ctx, math.MinInt64) {
		if err != nil {
			return 0, err
		}
		plants++
	}
	return plants, nil
}

// Check reads all records without changing them and returns its findings. Each intact
// record is passed to each, unless that is nil: in ascending order of id; where there is
// corruption, perhaps out of order and twice. An error means that the check failed, or is
// the error of each, which ends it. Findings are not errors.
func (s *Store) Check(ctx context.Context, each func(Record) error) (Report, error) {
	if check := s.current().features.Check; check != nil {
		return check(ctx, each)
	}
	report := Report{Corruption: []string{}}
	for record, err := range s.current().engine.List(ctx, math.MinInt64) {
		switch {
		case err == nil:
			err = report.Count(record, each)
		case errors.Is(err, ErrCorrupt):
			report.Add("%v", err)
			continue
		}
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// Snapshot writes a consistent copy of the store, in the form in which the engine opens
// it. It has every plant whose create has returned nil before. Creates continue, but the
// store may grow until all is written to w. For engines with other tools for copies, it
// returns [errors.ErrUnsupported].
func (s *Store) Snapshot(ctx context.Context, w io.Writer) error {
	s.resetting.RLock()
	defer s.resetting.RUnlock()
	snapshot := s.current().features.Snapshot
	if snapshot == nil {
		return fmt.Errorf("this engine has no snapshots: %w", errors.ErrUnsupported)
	}
	return snapshot(ctx, w)
}

// stoppedClose limits the time of Close after a fault.
const stoppedClose = 10 * time.Second

// Close commits queued creates, refuses later ones with [ErrUnavailable], ends the
// background work, and closes the engine. A second call waits for the
// first one and returns the same error. After a fault it waits for ten seconds at most: a call
// of a database that cannot be read may never return, and the process should end.
func (s *Store) Close() error {
	s.closeOnce.Do(func() { go s.close() })
	select {
	case <-s.closed:
	case <-s.stopped:
		select {
		case <-s.closed:
		case <-time.After(stoppedClose):
			return fmt.Errorf("the store does not close: %w", s.accepting())
		}
	}
	return s.closeErr
}

func (s *Store) close() {
	defer close(s.closed)
	s.mu.Lock()
	s.closing = true
	s.refusal = cmp.Or(s.refusal, fmt.Errorf("%w: it is closed", ErrUnavailable))
	s.mu.Unlock()
	s.work.Broadcast()
	s.writers.Wait()
	s.closeErr = s.current().close() // after a reset that has begun; a later one is refused
}
