package bbolt

import (
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
	_, err = tx.WriteTo(cancelWriter{ctx, w})
	_ = tx.Rollback() // it fails only if there is nothing to end
	return err
}

// A cancelWriter fails once its context has ended.
type cancelWriter struct {
	ctx context.Context
	w   io.Writer
}

// Write implements [io.Writer].
func (c cancelWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}
