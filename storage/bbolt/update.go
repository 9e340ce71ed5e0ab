package bbolt

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// errPanic is the error of a panic. bbolt panics if the structure of its file is corrupt; a
// read of mapped memory panics if the disk fails or the file was truncated.
var errPanic = errors.New("the database cannot be read or written")

// transaction calls do with a transaction, and rolls it back unless do has committed it.
// It returns [storage.ErrUnavailable] if the database is closed, and after a panic, which
// it logs, errPanic. If bbolt panics while it holds a lock, later transactions would wait
// forever: the database is abandoned then.
func (e *Engine) transaction(writable bool, do func(*bolt.Tx) error) (err error) {
	if e.abandoned.Load() {
		return fmt.Errorf("%w: the database cannot be read or written: an earlier transaction failed", storage.ErrUnavailable)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	ended := false
	defer func() {
		if p := recover(); p != nil {
			e.logger.Error("database access failed", "database", e.path, "cause", fmt.Sprint(p),
				"hint", "stop the server, run plantstore check, and restore a backup", "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
		if !ended {
			e.abandoned.Store(true)
		}
	}()
	tx, err := e.db.Begin(writable)
	if err != nil {
		ended = true
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	defer func() {
		if !e.abandoned.Load() {
			_ = tx.Rollback() // it fails after a commit
			ended = true
		}
	}()
	return do(tx)
}

// view calls read with the bucket of plants.
func (e *Engine) view(read func(plants *bolt.Bucket) error) error {
	err := e.transaction(false, func(tx *bolt.Tx) error { return read(tx.Bucket([]byte(plantsBucket))) })
	if errors.Is(err, errPanic) {
		return fmt.Errorf("%w: a page of %s is corrupt, or cannot be read", storage.ErrCorrupt, e.path)
	}
	return err
}

// appendFill is how full pages become when most records of a transaction follow all
// stored ones: few will be inserted into them.
const appendFill = 0.9

// update writes records, sorted by id, to the tree in one transaction, with the state of the journal
// unless that is nil. If the file is too small it grows, and another transaction follows. An error
// that matches [storage.ErrNoSpace] has changed nothing; after any other error the database must not
// be written to.
func (e *Engine) update(records []journal.Record, state *journal.State) error {
	e.updating.Lock()
	defer e.updating.Unlock()
	if cause := e.failed.Load(); cause != nil { // commits and checkpoints may race
		return e.fatal(*cause, nil)
	}
	err := e.tryUpdate(records, state)
	for least := int64(minGrowth); errors.Is(err, bolterrors.ErrMaxSizeReached); least *= 2 {
		if err = e.grow(least); err == nil {
			err = e.tryUpdate(records, state)
		}
	}
	if err != nil {
		return e.fail(err)
	}
	if state != nil {
		e.state.Store(state)
	}
	return nil
}

// tryUpdate is update for a file that is large enough. After an error that matches
// [bolterrors.ErrMaxSizeReached] nothing has been written.
func (e *Engine) tryUpdate(records []journal.Record, state *journal.State) error {
	return e.transaction(true, func(tx *bolt.Tx) error {
		if err := errors.Join(put(tx.Bucket([]byte(plantsBucket)), records), putState(tx, state)); err != nil {
			return err
		}
		txid := uint64(tx.ID()) //nolint:gosec // bbolt has made an int of it
		if err := tx.Commit(); err != nil {
			return e.classify(txid, err)
		}
		return nil
	})
}

// put adds records to a bucket of plants.
func put(plants *bolt.Bucket, records []journal.Record) error {
	if len(records) == 0 {
		return nil
	}
	stored := countTree(plants)
	last, _ := plants.Cursor().Last()
	if bytes.Compare(last, keyOf(records[len(records)/2].ID)) < 0 {
		plants.FillPercent = appendFill
	}
	for _, r := range records {
		if err := plants.Put(keyOf(r.ID), r.Value); err != nil {
			return err
		}
	}
	// bbolt keeps the number in the page of the bucket, which each commit writes.
	return plants.SetSequence(uint64(stored) + uint64(len(records))) //nolint:gosec // both count plants
}

// classify returns the outcome of the failed commit of transaction txid, by the meta pages
// in the file. If there was no space and the commit surely did not happen, the next one
// starts from the same state. Otherwise continuing could corrupt the database: the store
// stops.
func (e *Engine) classify(txid uint64, cause error) error {
	switch {
	case errors.Is(cause, bolterrors.ErrMaxSizeReached): // the file is to grow
		return cause
	case e.mayHaveHappened(txid):
		return e.unknown(cause)
	case NoSpace(cause):
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, cause)
	}
	return e.fatal(cause, fmt.Errorf("commit: %w", cause))
}

// mayHaveHappened reports whether a meta page is of transaction txid, or corrupt. The
// mapping is read first: some file systems let a write fail and keep it in their
// cache until it is read again.
func (e *Engine) mayHaveHappened(txid uint64) bool {
	var mapped uint64
	err := e.transaction(false, func(tx *bolt.Tx) error {
		mapped = uint64(tx.ID()) //nolint:gosec // bbolt has made an int of it
		return nil
	})
	if err != nil || mapped >= txid {
		return true
	}
	for page := range int64(2) {
		if m, ok := readMeta(e.file, page*e.pageSize); !ok || m.Txid >= txid {
			return true
		}
	}
	return false
}

// fail returns the error of a failed transaction that stops the store, unless it is
// [storage.ErrNoSpace]. A panic is usually caused by a file that was truncated.
func (e *Engine) fail(err error) error {
	if errors.Is(err, storage.ErrNoSpace) || errors.As(err, new(*storage.FatalError)) {
		return err
	}
	if !errors.Is(err, errPanic) {
		return e.fatal(err, nil)
	}
	return e.unknown(cmp.Or(e.verifyFiles(), err))
}

// fatal returns an error that stops the store: the database must no longer be written
// to. The creates of the batch get outcome, or [storage.ErrUnavailable] if it
// is nil.
func (e *Engine) fatal(cause, outcome error) error {
	e.failed.CompareAndSwap(nil, &cause)
	return &storage.FatalError{Cause: cause, Outcome: outcome}
}

// unknown is fatal for a batch that may be stored or not.
func (e *Engine) unknown(cause error) error {
	return e.fatal(cause, fmt.Errorf("%w: %w", storage.ErrUnknown, cause))
}

// NoSpace reports whether err means that the file could not grow: the file system is full,
// the quota used up, or the limit on the size of a file met. Some of bbolt's errors carry
// the text of the system's error only.
func NoSpace(err error) bool {
	full := []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
	if runtime.GOOS == "windows" {
		full = append(full, 39, 112) // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL
	}
	return slices.ContainsFunc(full, func(full syscall.Errno) bool {
		return errors.Is(err, full) || strings.Contains(err.Error(), full.Error())
	})
}
