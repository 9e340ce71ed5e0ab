package bbolt

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"plantstore/storage"
)

var _ storage.Snapshotter = (*Store)(nil)

// Snapshot is [storage.Snapshotter.Snapshot]. The copy has this database's own
// id. It is read from the file, not from its mapping: a disk that fails is an
// error. While it goes on, pages that are no longer used are not used again.
func (s *Store) Snapshot(ctx context.Context, w io.Writer) error {
	tx, err := s.db.Begin(false)
	if err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
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
