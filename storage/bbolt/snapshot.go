package bbolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// snapshot is Snapshot of [storage.Store]. The copy has this database's own
// id. It is read from the file, not from its mapping: a disk that fails is an
// error. While it goes on, pages that are no longer used are not used again.
func (e *Engine) snapshot(ctx context.Context, w io.Writer) error {
	tx, err := e.beginComplete()
	if err != nil {
		return err
	}
	out := &cancelWriter{ctx: ctx, w: w}
	_, err = tx.WriteTo(out)
	_ = tx.Rollback() // it fails only if there is nothing to end
	return cmp.Or(out.err, err)
}

// A cancelWriter fails once its context has ended.
type cancelWriter struct {
	ctx context.Context
	w   io.Writer
	err error // the first, which bbolt keeps the words of, no more
}

// Write implements [io.Writer].
func (c *cancelWriter) Write(p []byte) (n int, err error) {
	if c.err = c.ctx.Err(); c.err == nil {
		n, c.err = c.w.Write(p)
	}
	return n, c.err
}

// ErrPending is returned by Snapshot of a store that is open for reading, if it was not
// closed cleanly: some of its plants are in the journal only. Opening it for writing
// moves them to the database.
var ErrPending = errors.New("the database was not closed cleanly, and has plants in its journal only")

// beginComplete begins a read transaction whose tree has all plants and needs no
// journal.
func (e *Engine) beginComplete() (*bolt.Tx, error) {
	if e.journal != nil && !e.writable() {
		return nil, ErrPending
	}
	if e.journal != nil {
		return e.beginClean()
	}
	tx, err := e.begin(false)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return tx, nil
}

// beginClean moves all that is pending to the tree and begins a read transaction in
// which the database is marked as clean. It stays so until the next append.
func (e *Engine) beginClean() (tx *bolt.Tx, err error) {
	for range 2 { // halves, while creates go on
		if err := e.checkpoint(nil); err != nil {
			return nil, err
		}
	}
	e.committing.Lock()
	defer e.committing.Unlock()
	if err := e.checkpointAll(); err != nil {
		return nil, err
	}
	e.checkpointing.Lock()
	defer e.checkpointing.Unlock()
	if err := e.setClean(true); err != nil {
		return nil, err
	}
	return e.begin(false)
}
