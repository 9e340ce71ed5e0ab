package storage

import (
	"context"
	"io"
	"iter"

	"plantstore/models"
)

// An Engine keeps plants, and does for a [Store] what only the engine can do. Its
// methods may be called from any number of goroutines at once.
type Engine interface {
	// Commit stores the plants of a batch, which is sorted by id and has each id
	// once. If it returns nil, the items in which it has set neither Existing nor
	// Err are durable. If it returns an error, none of them is stored, or, if
	// the error matches [ErrUnknown], perhaps some; a [FatalError] also
	// stops the store, as does a panic. It is called by at most Writers goroutines at
	// a time, see [Limits], and must not keep batch or what its plants point to.
	//
	// An empty batch is a trial after a failed commit: it stores nothing. It must write
	// and sync as a commit of plants does, so that its success predicts one.
	Commit(batch []Item) error

	// Get is Get of [Store].
	Get(ctx context.Context, id int64) (models.Plant, error)

	// List is List of [Store].
	List(ctx context.Context, from int64) iter.Seq2[Record, error]

	// Check is Check of [Store].
	Check(ctx context.Context, each func(Record) error) (Report, error)

	// Close releases the engine. The store calls it once, when nothing is being
	// committed and Run has returned. Get and List may run during and after Close,
	// and return [ErrUnavailable] then.
	Close() error
}

// An Item is one plant of a batch, and the outcome of its create.
type Item struct {
	Record

	// Existing is set by the engine if the id is taken: the plant that is
	// stored under it. This one is then not stored.
	Existing *models.Plant
	// Err is set by the engine if this plant was not stored for a reason
	// that does not concern the others of the batch. Creates of the same id
	// that came in later get it, too: they are not tried.
	Err error
}

// outcome returns the outcome of a create of plant after the commit of its id
// returned err: the create that was tried, if first, or one that came later.
func (i *Item) outcome(plant models.Plant, first bool, err error) error {
	switch {
	case i.Err != nil:
		return i.Err
	case i.Existing != nil: // Of an earlier commit, whatever became of this one.
		return &ExistsError{Identical: i.Existing.Equal(plant)}
	case err != nil:
		return err
	case !first:
		return &ExistsError{Identical: i.Plant.Equal(plant)}
	}
	return nil
}

// Features are what an engine has or can do beyond [Engine]. The zero value is an
// engine with no features and the usual limits.
type Features struct {
	// Limits bound queue and batches.
	Limits Limits
	// ReadOnly engines refuse creates: Commit, Probe and Run are never called.
	ReadOnly bool
	// Count returns the number of plants that the engine keeps up to date. Without
	// it Count of [Store] reads all plants.
	Count func(ctx context.Context) (int64, error)
	// File returns statistics of the file in which the plants are. It is cheap.
	File func() FileStats
	// Snapshot is Snapshot of [Store].
	Snapshot func(ctx context.Context, w io.Writer) error
	// Probe returns nil if a remote engine can store plants, else why not. It is
	// called every few seconds, and returns soon after ctx has ended.
	Probe func(ctx context.Context) error
	// Run is the engine's background work. The store starts it, and ends ctx when
	// the queue is drained; Run returns soon after that. To stop the store after a
	// fault, it calls stop, at any time and from any goroutine; the first cause
	// stays.
	Run func(ctx context.Context, stop func(cause error))
}
