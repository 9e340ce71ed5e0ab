package bbolt

import (
	"errors"
	"fmt"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
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
