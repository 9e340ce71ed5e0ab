package bbolt

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

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

// List implements [storage.Engine]. It reads chunk by chunk, so that a slow caller
// neither holds up creates nor keeps old pages of the file from being reused.
func (e *Engine) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		l, err := e.newLister(from)
		if err != nil {
			yield(storage.Record{}, err)
			return
		}
		for l.next != nil {
			records, err := l.chunk()
			for _, record := range records {
				if ctx.Err() != nil {
					break
				}
				if !yield(record, nil) {
					return
				}
			}
			if err = cmp.Or(ctx.Err(), err); err != nil {
				yield(storage.Record{}, err)
				return
			}
		}
	}
}

// A lister reads chunks of plants from the journal and the tree.
type lister struct {
	engine *Engine
	next   []byte  // the key of the next plant to read, or one before it; nil at the end
	ids    []int64 // still to be read, of the plants that were pending at the beginning
}

func (e *Engine) newLister(from int64) (*lister, error) {
	ids, err := e.journal.IDs(from)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrCorrupt, err)
	}
	return &lister{engine: e, next: keyOf(from), ids: ids}, nil
}

// chunk returns the next plants in ascending order of id; with an error, the plants before
// the error.
func (l *lister) chunk() (records []storage.Record, err error) {
	ids, end := l.ids, []byte(nil)
	if len(ids) > chunkRecords {
		ids, end = ids[:chunkRecords], keyOf(ids[chunkRecords])
	}
	pending, err := l.engine.pendingRecords(ids)
	if err != nil {
		return nil, err
	}
	l.next, err = l.engine.readTree(l.next, end, func(key, value []byte) error {
		plant, err := decode(key, value)
		if err == nil {
			records = append(records, storage.Record{ID: idOf(key), Plant: *plant})
		}
		return err
	})
	if l.next != nil {
		after := idOf(l.next)
		n, _ := slices.BinarySearch(l.ids, after)
		l.ids = l.ids[n:]
		pending = slices.DeleteFunc(pending, func(r storage.Record) bool { return r.ID >= after })
	}
	if len(pending) > 0 {
		records = append(records, pending...)
		slices.SortFunc(records, func(a, b storage.Record) int { return cmp.Compare(a.ID, b.ID) })
		// Plants in both were moved to the tree meanwhile.
		records = slices.CompactFunc(records, func(a, b storage.Record) bool { return a.ID == b.ID })
	}
	return records, err
}

// readTree calls each with the records in the tree from key start up to key end, which
// may be nil, or to the bounds of a chunk. It returns the key after them, nil at the end.
func (e *Engine) readTree(start, end []byte, each func(key, value []byte) error) (next []byte, err error) {
	err = e.view(func(plants *bolt.Bucket) error {
		n, size, last, c := 0, 0, []byte(nil), plants.Cursor()
		for key, value := c.Seek(start); key != nil && (end == nil || bytes.Compare(key, end) < 0); key, value = c.Next() {
			if n == chunkRecords || size >= chunkBytes {
				next = bytes.Clone(key)
				return nil
			}
			if n > 0 && bytes.Compare(last, key) >= 0 {
				return fmt.Errorf("%w: key %x follows key %x", storage.ErrCorrupt, key, last)
			}
			if err := each(key, value); err != nil {
				return err
			}
			n, size, last = n+1, size+len(value), key
		}
		next = end
		return nil
	})
	return next, err
}
