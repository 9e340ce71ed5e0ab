package bbolt

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

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
				chunk, after = append(chunk, storage.Item{Record: storage.Record{ID: idOf(next)}, Err: err}), nil
			}
			for _, item := range chunk {
				if !yield(item.Record, item.Err) {
					return
				}
			}
			next = after
		}
	}
}

// readChunk returns a chunk of the plants from key start on, and the key after it, nil at the end. Of a
// plant that cannot be read it returns only the id, and why.
func (e *Engine) readChunk(start []byte, descending bool) (chunk []storage.Item, next []byte, err error) {
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
			chunk = append(chunk, storage.Item{Record: record, Err: err})
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

// Snapshot implements [storage.FileEngine]. It reads the file, not its mapping: a
// disk that fails is an error. Until it ends, free pages are not reused.
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

// Check implements [storage.FileEngine]. The store must be open for reading: commits free and reuse
// pages. It ends with ctx; the store is unusable then. A read that hangs, and bbolt's check, are left to
// run until the process ends, and keep the database open for so long.
func (e *Engine) Check(ctx context.Context) (storage.Report, error) {
	report := storage.Report{Corruption: []string{}}
	done := make(chan error, 1)
	go func() {
		done <- e.transaction(false, func(tx *bolt.Tx) error { return e.check(ctx, tx, &report) })
	}()
	select {
	case err := <-done:
		return report, err
	case <-ctx.Done():
		e.failStop.Stop(ctx.Err())
		return storage.Report{}, ctx.Err()
	}
}

// check adds the findings to the report, and counts the plants. A corrupt page ends the check, a corrupt
// record does not. The pages are bounded by the file (see pageCheck); the records and bbolt's check,
// which trust them, by the pages.
func (e *Engine) check(ctx context.Context, tx *bolt.Tx, report *storage.Report) error {
	newest, intact := newestMeta(e.file)
	if intact < 2 {
		report.Add("a meta page is corrupt: the last commit may be missing")
	}
	if _, err := checkPages(e.file, newest, ctx.Err, true); err != nil {
		report.Add("%v", err)
		return ctx.Err()
	}
	plants, stored := tx.Bucket([]byte(plantsBucket)), uint64(0)
	cursor := plants.Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		stored++
		if _, err := decode(key, value); err != nil {
			report.Add("%v", err)
		} else {
			report.Plants++
		}
	}
	if want := plants.Sequence(); want != stored {
		report.Add("the database should have %d plants, and has %d", want, stored)
	}
	if !report.Intact() {
		return nil
	}
	for finding := range tx.Check() { // bbolt's own panics are findings like any other
		report.Add("structure: %s", strings.TrimPrefix(finding.Error(), "panic: "))
	}
	return nil
}
