package bbolt

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	bolt "go.etcd.io/bbolt"

	"plantstore/models"
	"plantstore/storage"
)

// A page of [Engine.List] ends after so many records, or so many bytes of them.
// While a page is being read a commit may have to wait for it.
const (
	pageRecords = 1000
	pageBytes   = 1 << 20
)

// Get implements [storage.Engine].
func (e *Engine) Get(ctx context.Context, id int64) (plant models.Plant, err error) {
	if err := ctx.Err(); err != nil {
		return models.Plant{}, err
	}
	// The journal is read before the tree: a checkpoint moves records from one to
	// the other.
	switch pending, err := e.pending(id); {
	case err != nil:
		return models.Plant{}, err
	case pending != nil:
		return *pending, nil
	}
	err = e.view(func(plants *bolt.Bucket) error {
		key := keyOf(id)
		value := plants.Get(key)
		if value == nil {
			return storage.ErrNotFound
		}
		plant, err = decode(key, value)
		return err
	})
	return plant, err
}

// pending returns the plant that is pending under id, or nil.
func (e *Engine) pending(id int64) (*models.Plant, error) {
	if e.journal == nil {
		return nil, nil //nolint:nilnil // as the comment says
	}
	value, found := e.journal.Get(id)
	if !found {
		return nil, nil //nolint:nilnil // as the comment says
	}
	return existing(keyOf(id), value)
}

// pendingIDs returns the ids that are pending and at least from, in ascending order.
func (e *Engine) pendingIDs(from int64) []int64 {
	if e.journal == nil {
		return nil
	}
	return e.journal.IDs(from)
}

// pendingRecords returns the plants that are still pending under ids.
func (e *Engine) pendingRecords(ids []int64) (records []storage.Record, err error) {
	for _, id := range ids {
		plant, err := e.pending(id)
		if err != nil {
			return records, err
		}
		if plant != nil {
			records = append(records, storage.Record{ID: id, Plant: *plant})
		}
	}
	return records, nil
}

// List implements [storage.Engine]. It reads page by page, so that a slow caller
// neither holds up creates nor keeps old pages of the file from being reused.
func (e *Engine) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		l := lister{engine: e, next: keyOf(from), ids: e.pendingIDs(from)}
		for l.next != nil {
			records, err := l.page()
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

// A lister reads pages of plants from the journal and the tree.
type lister struct {
	engine *Engine
	next   []byte  // the key from which on plants are still to be read, nil at the end
	ids    []int64 // that were pending at the beginning and are still to be read
}

// page returns the next plants in ascending order of id. Those before an error it
// returns, too.
func (l *lister) page() ([]storage.Record, error) {
	chunk := l.ids[:min(len(l.ids), pageRecords)]
	pending, err := l.engine.pendingRecords(chunk)
	if err != nil {
		return nil, err
	}
	var end []byte // of the page
	if len(chunk) < len(l.ids) {
		end = keyOf(l.ids[len(chunk)])
	}
	stored, end, err := l.engine.readTree(l.next, end)
	if end != nil {
		n, _ := slices.BinarySearch(l.ids, idOf(end))
		l.ids = l.ids[n:]
		pending = slices.DeleteFunc(pending, func(r storage.Record) bool { return r.ID >= idOf(end) })
	}
	l.next = end
	return merge(pending, stored), err
}

// merge returns the records of both, in ascending order of id. One that is in both
// was moved to the tree meanwhile.
func merge(pending, stored []storage.Record) []storage.Record {
	if len(pending) == 0 {
		return stored
	}
	all := slices.Concat(stored, pending)
	slices.SortStableFunc(all, func(a, b storage.Record) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b storage.Record) bool { return a.ID == b.ID })
}

// readTree returns the records from key start up to end, or to the bounds of a page,
// and the key after them. Those before an error it returns, too.
func (e *Engine) readTree(start, end []byte) (records []storage.Record, after []byte, err error) {
	err = e.view(func(plants *bolt.Bucket) error {
		size, c := 0, plants.Cursor()
		for key, value := c.Seek(start); key != nil && (end == nil || bytes.Compare(key, end) < 0); key, value = c.Next() {
			if len(records) == pageRecords || size >= pageBytes {
				after = bytes.Clone(key)
				return nil
			}
			plant, err := decode(key, value)
			if err != nil {
				return err
			}
			records = append(records, storage.Record{ID: idOf(key), Plant: plant})
			size += len(value)
		}
		after = end
		return nil
	})
	return records, after, err
}
