package storage

import (
	"context"
	"fmt"
	"io"
	"iter"

	"plantstore/models"
)

// A Record is a plant with the id under which it is stored. As JSON it is a
// NewPlant: {"id":…,"name":…,"tag":…}.
type Record struct {
	ID    int64        `json:"id"`
	Plant models.Plant `json:",embed"`
}

// Size returns the bytes of the plant's texts, which the queue and [Limits] bound.
func (r Record) Size() int { return r.Plant.Size() }

// An Engine keeps the plants of a [Store]. Its methods may be called from any number of
// goroutines at once.
type Engine interface {
	// Commit stores the plants of a batch, which is sorted by id and has each id once. If it
	// returns nil, the items in which it has set neither Existing nor Err are durable. If it
	// returns an error, none of them is stored, or, if the error matches [ErrUnknown], perhaps
	// some. An engine that must not be written to afterwards calls [FailStop.Stop] before it
	// returns; a panic stops the store, too. Commit is called by at most Writers goroutines at
	// a time, see [Limits], and not after a stop.
	//
	// An empty batch stores nothing. It follows a failed commit, and the opening of the store:
	// it must write and sync as the commit of a plant does, and need as much space, so that its
	// success predicts one.
	Commit(batch []Item) error

	// Get is Get of [Store].
	Get(ctx context.Context, id int64) (models.Plant, error)

	// List is List of [Store], or ListDescending. It need not end because ctx ends, or after an
	// error that matches [ErrCorrupt]: the store ends it.
	List(ctx context.Context, from int64, descending bool) iter.Seq2[Record, error]

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
	// not tried. After [ErrNoSpace] the store is not ready.
	Err error
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

// A FileEngine is an [Engine] that keeps its plants in a file on this machine. It has one writer. Its
// methods that are named like those of [Store] have the same contract.
type FileEngine interface {
	Engine

	// Run is background work, until done is closed after the last commit.
	Run(done <-chan struct{})
	// Reset is not called during a commit.
	Reset(records []Record) error
	Count(ctx context.Context) (int64, error)
	// Check verifies more than that each record can be listed.
	Check(ctx context.Context) (Report, error)
	Snapshot(ctx context.Context, w io.Writer) error
	// FileStats is cheap.
	FileStats() FileStats
}

// A Report is the result of a check of a store.
type Report struct {
	// Plants is the number of intact records.
	Plants int64 `json:"plants"`
	// Corruption has a line for each finding, at most 10,000 of them.
	Corruption []string `json:"corruption"`
	// More is the number of findings that Corruption leaves out.
	More int64 `json:"more,omitzero"`
}

// maxFindings bounds the findings that a Report lists.
const maxFindings = 10_000

// Findings returns the number of findings.
func (r *Report) Findings() int64 { return int64(len(r.Corruption)) + r.More }

// Intact reports whether there are no findings.
func (r *Report) Intact() bool { return len(r.Corruption) == 0 }

// Add adds a finding.
func (r *Report) Add(format string, args ...any) {
	if len(r.Corruption) == maxFindings {
		r.More++
		return
	}
	r.Corruption = append(r.Corruption, fmt.Sprintf(format, args...))
}

// Stats are the statistics of a store since it was opened.
type Stats struct {
	// QueuedCreates wait for a commit, with QueuedBytes of names and tags. Create is refused
	// while QueueLimit wait. A batch of CreateAll counts as one create, and is never refused.
	QueuedCreates, QueuedBytes, QueueLimit int

	Created       uint64     // plants that were stored
	Resets        uint64     // of the plants
	FailedCommits uint64     // including those with an unknown outcome
	Stopped       bool       // after a fault
	File          *FileStats // nil if there is no file on this machine
}

// FileStats are statistics of a file of plants.
type FileStats struct {
	Plants int64
	Size   int64 // in bytes
	Free   int64 // bytes that the file system has left for this process, negative if unknown
}
