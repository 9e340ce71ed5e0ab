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
// error. Until it ends, free pages are not reused.
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

// lockClean moves all pending records to the tree, stores that in the database, and
// prevents commits, and so checkpoints, until unlock is called, which may be called twice.
func (e *Engine) lockClean() (unlock func(), err error) {
	if !e.hasJournal() {
		return func() {}, nil
	}
	if !e.writable() {
		return nil, ErrPending
	}
	for range 2 { // halves, while creates continue
		if err := e.checkpoint(nil); err != nil {
			return nil, err
		}
	}
	e.committing.Lock()
	unlock = sync.OnceFunc(e.committing.Unlock)
	if err = e.checkpointAll(); err == nil {
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
	err error // the first; bbolt keeps only its text
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
