package bbolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

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
func (e *Engine) Get(ctx context.Context, id int64) (models.Plant, error) {
	if err := ctx.Err(); err != nil {
		return models.Plant{}, err
	}
	plant, err := e.pending(id)
	if plant == nil && err == nil {
		err = e.view(func(plants *bolt.Bucket) (err error) {
			key := keyOf(id)
			value := plants.Get(key)
			if value == nil {
				return storage.ErrNotFound
			}
			plant, err = decode(key, value)
			return err
		})
	}
	if err != nil {
		return models.Plant{}, err
	}
	return *plant, nil
}

// List implements [storage.Engine]. The pending plants are those of the beginning: a plant that
// a checkpoint moves meanwhile may be in both, and in the tree alone if it was moved before.
func (e *Engine) List(_ context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		pending := e.journal.Pending(from)
		for stored, err := range e.listTree(from) {
			for len(pending) > 0 && pending[0].ID <= stored.ID {
				if pending[0].ID < stored.ID && !yield(decodeRecord(keyOf(pending[0].ID), pending[0].Value)) {
					return
				}
				pending = pending[1:]
			}
			if !yield(stored, err) {
				return
			}
		}
		for _, r := range pending {
			if !yield(decodeRecord(keyOf(r.ID), r.Value)) {
				return
			}
		}
	}
}

// listTree yields the plants in the tree with an id of at least from, also after a corrupt one,
// whose id it yields with the error. It reads chunk by chunk, so that a slow caller neither holds
// up creates nor keeps old pages of the file from being reused.
func (e *Engine) listTree(from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for next := keyOf(from); next != nil; {
			chunk, after, err := e.readChunk(next)
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

// readChunk returns a chunk of the tree from key start on, and the key after it, nil at the end.
func (e *Engine) readChunk(start []byte) (chunk []listItem, next []byte, err error) {
	err = e.view(func(plants *bolt.Bucket) error {
		size, last, c := 0, []byte(nil), plants.Cursor()
		for key, value := c.Seek(start); key != nil; key, value = c.Next() {
			if len(key) != keyLen || last != nil && bytes.Compare(last, key) >= 0 {
				return fmt.Errorf("%w: key %.20x follows key %x", storage.ErrCorrupt, key, last)
			}
			if len(chunk) == chunkRecords || size >= chunkBytes {
				next = bytes.Clone(key)
				return nil
			}
			record, err := decodeRecord(key, value)
			chunk = append(chunk, listItem{record, err})
			size, last = size+len(value), key
		}
		return nil
	})
	return chunk, next, err
}

// Count implements [storage.Counter].
func (e *Engine) Count(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !e.writable {
		return e.countPlants()
	}
	err := e.view(func(*bolt.Bucket) error { return nil }) // whether it is open
	return e.plants.Load(), err
}

// countPlants returns the number of plants in the tree and in the journal, while no checkpoint
// moves any.
func (e *Engine) countPlants() (n int64, err error) {
	err = e.view(func(plants *bolt.Bucket) error {
		n = countTree(plants) + int64(e.journal.Stats().Records)
		return nil
	})
	return n, err
}

// FileStats implements [storage.FileStatter].
func (e *Engine) FileStats() storage.FileStats {
	stats := storage.FileStats{Plants: e.plants.Load(), Replayed: e.replayed, Free: freeSpace(e.file)}
	if info, err := e.file.Stat(); err == nil {
		stats.Size = info.Size()
	}
	if e.hasJournal() {
		pending := e.journal.Stats()
		stats.Journal = &storage.JournalStats{
			Plants: int64(pending.Records), Bytes: pending.Bytes, Oldest: pending.Oldest,
			Checkpoints: e.checkpoints.Load(), CheckpointTime: time.Duration(e.checkpointTime.Load()),
		}
	}
	return stats
}

// ErrPending is returned by Snapshot of a store that is open for reading, if it was not
// closed cleanly: some of its plants are in the journal only. Opening it for writing
// moves them to the database.
var ErrPending = errors.New("the database was not closed cleanly, and has plants in its journal only")

// Snapshot implements [storage.Snapshotter]. The copy has this database's own
// id. It is read from the file, not from its mapping: a disk that fails is an
// error. Until it ends, free pages are not reused.
func (e *Engine) Snapshot(ctx context.Context, w io.Writer) error {
	if e.hasJournal() && !e.writable {
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
