package storage

import (
	"errors"

	"plantstore/models"
)

// The errors of a store. Engines wrap them with details; callers match them with
// [errors.Is]. An error of Create that matches neither one of these nor
// [ExistsError] means: nothing was stored, for a reason of the engine's own.
var (
	// ErrNotFound: no plant has that id.
	ErrNotFound = errors.New("no plant has this id")
	// ErrOverloaded: the queue was full, or the context ended in it. Nothing was stored.
	ErrOverloaded = errors.New("the store is overloaded")
	// ErrNoSpace: there was no space left. Nothing was stored.
	ErrNoSpace = errors.New("no space left in the store")
	// ErrUnavailable: the store is closed, has stopped, or cannot be reached. Nothing was stored.
	ErrUnavailable = errors.New("the store is not available")
	// ErrUnknown: the outcome is unknown; the plant may be stored or not (C5.28).
	ErrUnknown = errors.New("the outcome is unknown: the plant may be stored or not")
	// ErrCorrupt: the record under the id, or a page of the database, is corrupt. A create stored
	// nothing.
	ErrCorrupt = errors.New("the database is corrupt")
	// ErrLocked: another process has the store open, which may be a server.
	ErrLocked = errors.New("locked by another process")
)

// An ExistsError is the outcome of a create whose id is taken (C5.27).
type ExistsError struct {
	Stored    models.Plant
	Identical bool // whether Stored equals the plant that was sent
}

// Error returns whether the stored plant is identical.
func (e *ExistsError) Error() string {
	if e.Identical {
		return "the id is taken by an identical plant"
	}
	return "the id is taken by a different plant"
}

// A CorruptError is [ErrCorrupt] for a record whose id is known. Create, List and Get return it.
type CorruptError struct {
	ID  int64
	Err error // matches ErrCorrupt and names the id
}

// Error returns the text of Err.
func (e *CorruptError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *CorruptError) Unwrap() error { return e.Err }
