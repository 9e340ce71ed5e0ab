package bbolt

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
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
	switch {
	case e.mayHaveHappened(txid):
		return e.fatal(cause, fmt.Errorf("%w: %w", storage.ErrUnknown, cause))
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
		if m, ok := readMeta(e.file, page*e.pageSize); !ok || m.txid >= txid {
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
	p, panicked := errors.AsType[*panicError](err)
	if !panicked {
		return e.fatal(err, nil)
	}
	e.logger.Error("the database cannot be read or written", "database", e.file.Name(),
		"cause", fmt.Sprint(p.value), "stack", string(p.stack))
	cause := cmp.Or(e.verifyFiles(), err)
	return e.fatal(cause, fmt.Errorf("%w: %w", storage.ErrUnknown, cause))
}

// fatal returns an error that stops the store: the database must not be written to
// any more. The creates of the batch get outcome, or [storage.ErrUnavailable] if it
// is nil.
func (e *Engine) fatal(cause, outcome error) error {
	e.failed.CompareAndSwap(nil, &cause)
	return &storage.FatalError{Cause: cause, Outcome: outcome}
}

// NoSpace reports whether err says that the file could not grow: the file system is full,
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
