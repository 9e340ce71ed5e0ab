// Package storage says what a store of plants is. The engines, one package
// each below this one, keep the plants; every engine passes the suite of
// package storagetest.
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"plantstore/models"
)

// The ways in which a store refuses. Engines wrap them with what they know;
// callers match them with [errors.Is]. Any error of Create that matches neither
// of these nor [ExistsError] means: nothing was stored, for a reason of the
// engine's own.
var (
	// ErrNotFound: no plant has that id.
	ErrNotFound = errors.New("no plant has this id")
	// ErrOverloaded: the queue is full, or the context ended while the create
	// was still queued. Nothing was stored.
	ErrOverloaded = errors.New("the store is overloaded")
	// ErrNoSpace: there was no space left. Nothing was stored.
	ErrNoSpace = errors.New("no space left in the store")
	// ErrUnavailable: the store is closed, has stopped itself after a fault,
	// or cannot be reached. Nothing was stored.
	ErrUnavailable = errors.New("the store is not available")
	// ErrStuck: a commit does not end, as on a disk that hangs. The error
	// matches ErrUnavailable, too; only Ready returns it.
	ErrStuck = errors.New("a commit does not end")
	// ErrUnknown: whether the plant was stored cannot be known (C5.28).
	ErrUnknown = errors.New("it is not known whether the plant was stored")
	// ErrCorrupt: what the store holds under the id is not what was put there.
	// A create of this id stored nothing.
	ErrCorrupt = errors.New("the stored record is damaged")
	// ErrTooLarge: the server that has the store open accepts no plant of this
	// size. Nothing was stored. No engine returns it.
	ErrTooLarge = errors.New("the plant is larger than the server accepts")
	// ErrUnrecorded: the plant was stored, but perhaps not noted in the audit log.
	// No engine returns it.
	ErrUnrecorded = errors.New("the plant was stored, but the audit log may lack it")
	// ErrAuditLog: the audit log cannot be written. It comes with what that means
	// for the plant. No engine returns it.
	ErrAuditLog = errors.New("the audit log cannot be written")
	// ErrLocked: the store cannot be opened, since another process has it
	// open that may be asked instead.
	ErrLocked = errors.New("locked by another process")
)

// An ExistsError is the outcome of a create whose id is taken (C5.27).
type ExistsError struct {
	// Identical is true if the stored plant equals the one sent.
	Identical bool
}

// Error says that the id is taken, and by what.
func (e *ExistsError) Error() string {
	if e.Identical {
		return "the id is taken by an identical plant"
	}
	return "the id is taken by a different plant"
}

// A Record is a plant with the id under which it is stored. As JSON it is a
// NewPlant: {"id":…,"name":…,"tag":…}.
type Record struct {
	ID    int64        `json:"id"`
	Plant models.Plant `json:",embed"`
}

// A Report is what a check of a store has found.
type Report struct {
	// Plants is the number of records that are whole.
	Plants int64 `json:"plants"`
	// Damage says what is wrong, a line for each finding, at most 10,000 of them.
	Damage []string `json:"damage"`
	// More is the number of findings beyond those.
	More int64 `json:"more,omitzero"`
	// Notes say what could not be found out. They are no findings.
	Notes []string `json:"notes,omitzero"`
}

// maxDamage bounds the findings that a Report spells out.
const maxDamage = 10_000

// Whole reports whether nothing is wrong.
func (r *Report) Whole() bool { return len(r.Damage) == 0 }

// Add adds a finding.
func (r *Report) Add(format string, args ...any) {
	if len(r.Damage) == maxDamage {
		r.More++
		return
	}
	r.Damage = append(r.Damage, fmt.Sprintf(format, args...))
}

// Count counts a plant that is whole, and shows it to each, which may be nil.
func (r *Report) Count(record Record, each func(Record) error) error {
	r.Plants++
	if each == nil {
		return nil
	}
	return each(record)
}

// A Store keeps plants, each under an id that is given once and for all. All
// methods may be called from any number of goroutines at once.
type Store interface {
	// Create stores plant under id. It returns nil only when the plant is
	// durable: a power cut right after does not undo it (C5.26). Of any
	// number of racing creates of one id, exactly one succeeds.
	//
	// It returns an *ExistsError if the id is taken, ErrOverloaded if the
	// queue is full or ctx ended while the create was still queued,
	// ErrNoSpace, ErrUnavailable, ErrCorrupt if the id is taken by a damaged
	// record, and ErrUnknown if a commit failed in a way, or ctx ended at a
	// time, that leaves the outcome open. Whatever it returns, what plant
	// points to is the caller's again.
	Create(ctx context.Context, id int64, plant models.Plant) error

	// CreateAll creates many plants in few commits and returns for each of
	// the records, in their order, what Create would have returned. It is
	// fastest if they ascend. Of the plants of one commit all that can be
	// stored are, or none. Of those with the same id the first counts. It
	// waits where Create is overloaded, until ctx ends: ErrOverloaded then
	// is what those get that were not stored.
	CreateAll(ctx context.Context, records []Record) []error

	// Get returns the plant stored under id, or ErrNotFound, ErrCorrupt or
	// ErrUnavailable.
	Get(ctx context.Context, id int64) (models.Plant, error)

	// List yields the stored plants with an id of at least from, in
	// ascending order of id: negative ids first (C5.29). It ends after the
	// first error that it yields, which is that of ctx, ErrCorrupt or
	// ErrUnavailable. It does not block creates, and need not show those that
	// come while it runs.
	List(ctx context.Context, from int64) iter.Seq2[Record, error]

	// Ready returns nil while creates are accepted, else why not: ErrStuck if
	// they are, but none gets an answer.
	Ready() error

	// Stopped returns a channel that is closed if the store stops itself
	// after a fault, which Ready then names. It does not recover: the process
	// should answer what is in flight and end, to be started anew.
	Stopped() <-chan struct{}

	// Check reads all that is stored and returns what it found. It changes
	// nothing. Each plant that is whole goes to each, unless that is nil: in
	// ascending order of id unless damage has changed it, and perhaps twice
	// then. The error is about checking, or that of each, which ends it; it is
	// not about what was found.
	Check(ctx context.Context, each func(Record) error) (Report, error)

	// Close commits what is queued, refuses what comes later with
	// ErrUnavailable, and releases the store. Closing again does nothing.
	Close() error
}

// A Snapshotter is a [Store] that can copy itself while it is in use. The
// engines without it have tools of their own for this.
type Snapshotter interface {
	// Snapshot writes a copy of the store as it is at one moment, in the form
	// in which the engine opens it. It has every plant whose create has
	// returned nil before. Creates go on, but the store may grow until w has
	// taken all.
	Snapshot(ctx context.Context, w io.Writer) error
}
