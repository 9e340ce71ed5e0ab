package bbolt

import (
	"cmp"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"plantstore/storage"
)

// errUnchanged rolls back a transaction that has nothing to write.
var errUnchanged = errors.New("nothing to write")

// update commits the transaction that change makes, unless that returns errUnchanged. If the file is
// too small it grows, and change is called again. The error matches [storage.ErrUnknown] if the
// transaction may have been committed; otherwise it was not. Unless it matches
// [storage.ErrNoSpace], the store has stopped.
func (e *Engine) update(change func(*bolt.Tx) error) error {
	for least := int64(minGrowth); ; least *= 2 {
		txid := uint64(0) // of the commit, if it has begun
		err := e.transaction(true, func(tx *bolt.Tx) error {
			if err := change(tx); err != nil {
				return err
			}
			txid = uint64(tx.ID())
			return tx.Commit()
		})
		switch {
		case err == nil, errors.Is(err, errUnchanged):
			return nil
		case errors.Is(err, bolterrors.ErrMaxSizeReached): // nothing has been written
			if err := e.grow(least); err != nil {
				return err
			}
		case errors.Is(err, storage.ErrUnavailable):
			return err
		default:
			return e.classify(txid, err)
		}
	}
}

// classify returns the outcome of the failed commit of transaction txid, 0 if it had not begun. If
// there was no space and the commit surely did not happen, the next one starts from the same state.
// Otherwise continuing could corrupt the database: the store stops.
func (e *Engine) classify(txid uint64, cause error) error {
	unknown := txid > 0 && e.mayHaveHappened(txid)
	if !unknown && NoSpace(cause) {
		e.lacks = max(e.lacks, minGrowth)
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, cause)
	}
	cause = e.explainCorrupt(cause)
	e.failStop.Stop(cause)
	if unknown {
		return fmt.Errorf("%w: %w", storage.ErrUnknown, cause)
	}
	return fmt.Errorf("commit: %w", cause)
}

// explainCorrupt returns the cause of err: a page that cannot be read may have been cut off.
func (e *Engine) explainCorrupt(err error) error {
	if !e.writable || !errors.Is(err, storage.ErrCorrupt) {
		return err
	}
	return cmp.Or(e.verifyFile(), err)
}

// mayHaveHappened reports whether a meta page is of transaction txid, or corrupt: bbolt writes the
// new meta page last. The mapping is read first: some file systems let a write fail and keep it in
// their cache until it is read again.
func (e *Engine) mayHaveHappened(txid uint64) bool {
	var mapped uint64
	err := e.transaction(false, func(tx *bolt.Tx) error {
		mapped = uint64(tx.ID())
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
