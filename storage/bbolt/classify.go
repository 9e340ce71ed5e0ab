package bbolt

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// classify returns the outcome of the failed commit of transaction txid, by what it
// has left in the file. If there was no space and it surely did not happen, the next
// commit starts from the same state. Otherwise going on could damage what is there:
// the store stops.
func (e *Engine) classify(txid uint64, cause error) error {
	switch err := e.viewTx(func(*bolt.Tx) error { return nil }); {
	case err != nil:
		cause = errors.Join(cause, err)
	case e.mayHaveHappened(txid):
	case NoSpace(cause):
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, cause)
	default:
		return e.fatal(cause, fmt.Errorf("commit: %w", cause))
	}
	return e.fatal(cause, fmt.Errorf("%w: %w", storage.ErrUnknown, cause))
}

// fatal returns an error that stops the store: the database must not be written to
// any more. The creates of the batch get outcome, or [storage.ErrUnavailable] if it
// is nil.
func (e *Engine) fatal(cause, outcome error) error {
	e.failed.CompareAndSwap(nil, &cause)
	return &storage.FatalError{Cause: cause, Outcome: outcome}
}

// mayHaveHappened reports whether a meta page is that of transaction txid, or not
// whole. The mapping is asked first: some file systems let a write fail and keep
// it in their cache until it is read again.
func (e *Engine) mayHaveHappened(txid uint64) bool {
	var mapped uint64
	err := e.viewTx(func(tx *bolt.Tx) error {
		mapped = uint64(tx.ID()) //nolint:gosec // bbolt has made an int of it
		return nil
	})
	if err != nil || mapped >= txid {
		return true
	}
	for page := range int64(2) {
		if m, ok := readMeta(e.file, page*e.pageSize); !ok || m.txid >= txid {
			return true
		}
	}
	return false
}

// NoSpace reports whether err says that the file could not grow: the file
// system is full, the quota used up, or the limit on the size of a file met.
// Some of bbolt's errors carry the system's words without the system's error.
func NoSpace(err error) bool {
	for _, full := range append(diskFull(), syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG) {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return true
		}
	}
	return false
}
