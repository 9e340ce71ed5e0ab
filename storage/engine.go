package storage

import (
	"context"
	"io"
	"iter"

	"plantstore/models"
)

// An Engine keeps the plants of a [Store]. Its methods may be called from any number of
// goroutines at once.
type Engine interface {
	// Commit stores the plants of a batch, which is sorted by id and has each id once. If it
	// returns nil, the items in which it has set neither Existing nor Err are durable. If it
	// returns an error, none of them is stored, or, if the error matches [ErrUnknown], perhaps
	// some; a [FatalError] also stops the store, as does a panic. It is called by at most
	// Writers goroutines at a time, see [Limits].
	//
	// An empty batch follows a failed commit: it stores nothing. It must write and sync as
	// a commit of plants does, so that its success predicts one.
	Commit(batch []Item) error

	// Get is Get of [Store].
	Get(ctx context.Context, id int64) (models.Plant, error)

	// List is List of [Store]. It need not end because ctx ends, or after an error that matches
	// [ErrCorrupt]: the store ends it.
	List(ctx context.Context, from int64) iter.Seq2[Record, error]

	// Close releases the engine. The store calls it once, when all commits have ended and Run
	// has returned. Get and List may run during and after Close, and return [ErrUnavailable]
	// then.
	Close() error
}

// An Item is one plant of a batch, and the outcome of its create.
type Item struct {
	Record

	// Existing is set by the engine if the id is taken, to the plant that has it.
	// The plant of the item is not stored then.
	Existing *models.Plant
	// Err is set by the engine if this plant was not stored for a reason that does not concern
	// the others of the batch. Later creates of the same id in the batch get it, too: they are
	// not tried.
	Err error
}

// outcome returns the outcome of a create of plant after the commit of its id returned
// err. First is false for a later create of the same id, which was not tried.
func (i *Item) outcome(plant models.Plant, first bool, err error) error {
	switch {
	case i.Err != nil:
		return i.Err
	case i.Existing != nil: // Of an earlier commit, whatever the outcome of this one is.
		return &ExistsError{Identical: i.Existing.Equal(plant)}
	case err != nil:
		return err
	case !first:
		return &ExistsError{Identical: i.Plant.Equal(plant)}
	}
	return nil
}

// Limits are the limits of an engine. A zero field is the default.
type Limits struct {
	// BatchPlants bounds the plants in one batch, 16,384 by default, so that an import needs
	// few commits, and BatchBytes the bytes of their names and tags, 16 MiB. A larger plant
	// goes alone.
	BatchPlants, BatchBytes int
	// Writers is the number of batches that are committed at a time, 1 by default.
	Writers int
}

// The following interfaces are optional abilities of an [Engine], which the store detects by a
// type assertion. A method with the name of one of [Store] does the same.
type (
	// A Runner has background work.
	Runner interface {
		// Run runs until ctx ends, after the last commit. To stop the store after a fault, it
		// calls stop, at any time and from any goroutine; the first cause counts.
		Run(ctx context.Context, stop func(cause error))
	}

	// A Counter keeps the number of its plants.
	Counter interface {
		Count(ctx context.Context) (int64, error)
	}

	// A Checker verifies more than that each record can be listed.
	Checker interface {
		Check(ctx context.Context) (Report, error)
	}

	// A Snapshotter makes copies of its database.
	Snapshotter interface {
		Snapshot(ctx context.Context, w io.Writer) error
	}

	// A FileStatter keeps its plants in a file on this machine. FileStats is cheap.
	FileStatter interface {
		FileStats() FileStats
	}
)
