package bbolt

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	bolt "go.etcd.io/bbolt"
)

// snapshot is Snapshot of [storage.Store]. The copy has this database's own
// id. It is read from the file, not from its mapping: a disk that fails is an
// error. While it goes on, pages that are no longer used are not used again.
func (e *Engine) snapshot(ctx context.Context, w io.Writer) error {
	unlock, err := e.lockClean()
	if err != nil {
		return err
	}
	defer unlock()
	out := &cancelWriter{ctx: ctx, w: w}
	err = e.transaction(false, func(tx *bolt.Tx) error {
		unlock()
		_, err := tx.WriteTo(out)
		return err
	})
	return cmp.Or(out.err, err)
}

// lockClean moves all that is pending to the tree, notes that in the database, and keeps
// it so until unlock is called, which may be done twice.
func (e *Engine) lockClean() (unlock func(), err error) {
	if e.journal == nil {
		return func() {}, nil
	}
	if !e.writable() {
		return nil, ErrPending
	}
	for range 2 { // halves, while creates go on
		if err := e.checkpoint(nil); err != nil {
			return nil, err
		}
	}
	e.committing.Lock()
	err = e.checkpointAll()
	e.checkpointing.Lock()
	unlock = sync.OnceFunc(func() {
		e.checkpointing.Unlock()
		e.committing.Unlock()
	})
	if err == nil {
		err = e.setClean(true)
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
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
