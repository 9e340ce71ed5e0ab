package bbolt

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	bolt "go.etcd.io/bbolt"
)

// Snapshot implements [storage.Snapshotter]. The copy has this database's own
// id. It is read from the file, not from its mapping: a disk that fails is an
// error. Until it ends, free pages are not reused.
func (e *Engine) Snapshot(ctx context.Context, w io.Writer) error {
	if e.hasJournal() && !e.writable() {
		return ErrPending
	}
	for range 2 { // halves, while creates continue
		e.journal.Freeze()
		if err := e.checkpoint(nil); err != nil {
			return err
		}
	}
	e.committing.Lock() // until the copy has begun, nothing is appended to the journal
	unlock := sync.OnceFunc(e.committing.Unlock)
	defer unlock()
	if err := e.checkpointAll(); err != nil {
		return err
	}
	if err := e.setClean(true); err != nil {
		return err
	}
	out := &cancelWriter{ctx: ctx, w: w}
	err := e.transaction(false, func(tx *bolt.Tx) error {
		unlock()
		_, err := tx.WriteTo(out)
		return err
	})
	return cmp.Or(out.err, err)
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
