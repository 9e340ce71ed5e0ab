package bbolt

import (
	"bytes"
	"context"
	"fmt"
	"iter"

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
	type outcome struct {
		record storage.Record
		err    error
	}
	return func(yield func(storage.Record, error) bool) {
		for next := keyOf(from); next != nil; {
			chunk, start := []outcome(nil), idOf(next)
			after, err := e.readTree(next, func(key, value []byte) error {
				record, err := decodeRecord(key, value)
				chunk = append(chunk, outcome{record, err})
				return nil
			})
			if next = after; err != nil { // the rest cannot be read
				chunk, next = append(chunk, outcome{storage.Record{ID: start}, err}), nil
			}
			for _, o := range chunk {
				if !yield(o.record, o.err) {
					return
				}
			}
		}
	}
}

// readTree calls each with the records of a chunk of the tree, from key start on. It returns the
// key after them, nil at the end.
func (e *Engine) readTree(start []byte, each func(key, value []byte) error) (next []byte, err error) {
	err = e.view(func(plants *bolt.Bucket) error {
		n, size, last, c := 0, 0, []byte(nil), plants.Cursor()
		for key, value := c.Seek(start); key != nil; key, value = c.Next() {
			if len(key) != keyLen || n > 0 && bytes.Compare(last, key) >= 0 {
				return fmt.Errorf("%w: key %x follows key %x", storage.ErrCorrupt, key, last)
			}
			if n == chunkRecords || size >= chunkBytes {
				next = bytes.Clone(key)
				return nil
			}
			if err := each(key, value); err != nil {
				return err
			}
			n, size, last = n+1, size+len(value), key
		}
		return nil
	})
	return next, err
}
