package bbolt

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"

	bolt "go.etcd.io/bbolt"

	"plantstore/models"
	"plantstore/storage"
)

// A chunk of [Engine.List] ends after chunkRecords records, or chunkBytes bytes of them.
// While a chunk is being read a commit may have to wait for it.
const (
	chunkRecords = 1000
	chunkBytes   = 1 << 20
)

// Get implements [storage.Engine].
func (e *Engine) Get(ctx context.Context, id int64) (plant models.Plant, err error) {
	if err := ctx.Err(); err != nil {
		return models.Plant{}, err
	}
	err = e.view(func(plants *bolt.Bucket) error {
		key := keyOf(id)
		value := plants.Get(key)
		if value == nil {
			return storage.ErrNotFound
		}
		record, err := decode(key, value)
		plant = record.Plant
		return err
	})
	return plant, err
}

// List implements [storage.Engine]. It reads chunk by chunk, so that a slow caller neither holds
// up creates nor keeps old pages of the file from being reused. After a corrupt plant, whose id it
// yields with the error, it continues.
func (e *Engine) List(_ context.Context, from int64, descending bool) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for next := keyOf(from); next != nil; {
			chunk, after, err := e.readChunk(next, descending)
			if err != nil { // the rest cannot be read
				chunk, after = append(chunk, listItem{storage.Record{ID: idOf(next)}, err}), nil
			}
			for _, l := range chunk {
				if !yield(l.record, l.err) {
					return
				}
			}
			next = after
		}
	}
}

// A listItem is a record of a chunk, or only its id and why it cannot be read.
type listItem struct {
	record storage.Record
	err    error
}

// readChunk returns a chunk of the plants from key start on, and the key after it, nil at the end.
func (e *Engine) readChunk(start []byte, descending bool) (chunk []listItem, next []byte, err error) {
	err = e.view(func(plants *bolt.Bucket) error {
		c := plants.Cursor()
		key, value := c.Seek(start)
		advance, order := c.Next, -1
		if descending {
			advance, order = c.Prev, 1
			if key == nil {
				key, value = c.Last()
			} else if !bytes.Equal(key, start) { // the key after start
				key, value = c.Prev()
			}
		}
		for size, last := 0, []byte(nil); key != nil; key, value = advance() {
			if len(key) != keyLen || last != nil && bytes.Compare(last, key) != order {
				return fmt.Errorf("%w: key %.20x follows key %x", storage.ErrCorrupt, key, last)
			}
			if len(chunk) == chunkRecords || size >= chunkBytes {
				next = bytes.Clone(key)
				return nil
			}
			record, err := decode(key, value)
			chunk = append(chunk, listItem{record, err})
			size, last = size+len(value), key
		}
		return nil
	})
	return chunk, next, err
}

// Count implements [storage.FileEngine].
func (e *Engine) Count(ctx context.Context) (n int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err = e.view(func(plants *bolt.Bucket) error {
		n = int64(min(plants.Sequence(), math.MaxInt64))
		return nil
	})
	return n, err
}

// FileStats implements [storage.FileEngine].
func (e *Engine) FileStats() storage.FileStats {
	stats := storage.FileStats{Free: freeSpace(e.file)}
	stats.Plants, _ = e.Count(context.Background()) // 0 if it is closed
	if info, err := e.file.Stat(); err == nil {
		stats.Size = info.Size()
	}
	return stats
}

// Snapshot implements [storage.FileEngine]. The copy has this database's own
// id. It is read from the file, not from its mapping: a disk that fails is an
// error. Until it ends, free pages are not reused.
func (e *Engine) Snapshot(ctx context.Context, w io.Writer) error {
	out := &cancelWriter{ctx: ctx, w: w}
	err := e.transaction(false, func(tx *bolt.Tx) error {
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
