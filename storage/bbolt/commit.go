package bbolt

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"plantstore/storage"
)

// Commit implements [storage.Engine]. An empty batch needs the space that the last refused create
// lacked, and after the opening minGrowth beyond the pages in use.
func (e *Engine) Commit(batch []storage.Item) error {
	if len(batch) == 0 {
		if err := e.reserve(); err != nil {
			return err
		}
	}
	return e.update(func(tx *bolt.Tx) error { return insert(tx, batch) })
}

// Reset implements [storage.FileEngine].
func (e *Engine) Reset(records []storage.Record) error {
	batch := make([]storage.Item, len(records))
	for i, record := range records {
		batch[i].Record = record
	}
	var invalid error // of the first plant that cannot be stored
	err := e.update(func(tx *bolt.Tx) error {
		err := tx.DeleteBucket([]byte(plantsBucket))
		if err == nil {
			_, err = tx.CreateBucket([]byte(plantsBucket))
		}
		if err == nil {
			err = insert(tx, batch)
		}
		if i := slices.IndexFunc(batch, func(i storage.Item) bool { return i.Err != nil }); i >= 0 {
			invalid = fmt.Errorf("id %d: %w", batch[i].ID, batch[i].Err)
			return errUnchanged
		}
		return err
	})
	return cmp.Or(err, invalid)
}

const (
	// appendFill is how full pages become when most plants of a transaction follow all
	// stored ones: few will be inserted into them.
	appendFill = 0.9
	// usualRecord is the memory of a key and its value in bytes; a larger value is allocated again.
	usualRecord = 128
)

// insert puts the plants of a batch that have free ids into the bucket, and sets Existing or Err in
// the others. If there is none to put, it returns errUnchanged. For an empty batch it puts the last
// plant again, which needs as many pages as another one.
func insert(tx *bolt.Tx, batch []storage.Item) error {
	plants := tx.Bucket([]byte(plantsBucket))
	cursor := plants.Cursor()
	last, value := cursor.Last()
	if len(batch) == 0 && last != nil {
		return plants.Put(last, bytes.Clone(value))
	}
	if len(batch) > 0 && bytes.Compare(last, keyOf(batch[len(batch)/2].ID)) < 0 {
		plants.FillPercent = appendFill
	}
	stored := uint64(0)
	for i := range batch {
		item := &batch[i]
		key := appendKey(make([]byte, 0, usualRecord), item.ID)
		if bytes.Compare(key, last) <= 0 { // else the id is free
			if found, value := cursor.Seek(key); bytes.Equal(found, key) {
				stored, err := decode(key, value)
				if item.Err = err; err == nil {
					item.Existing = &stored.Plant
				}
				continue
			}
		}
		value, err := encode(key, item.Plant)
		if err != nil {
			item.Err = fmt.Errorf("encode the plant: %w", err)
			continue
		}
		if err := plants.Put(key, value); err != nil {
			return err
		}
		stored++
	}
	if stored == 0 && len(batch) > 0 {
		return errUnchanged
	}
	// bbolt keeps the number of plants in the page of the bucket, which each commit writes.
	return plants.SetSequence(plants.Sequence() + stored)
}

// errUnchanged rolls back a transaction that has nothing to write.
var errUnchanged = errors.New("nothing to write")

// update commits the transaction that change makes, unless that returns errUnchanged. If the file is
// too small it grows, and change is called again. The error matches [storage.ErrUnknown] if the
// transaction may have been committed; otherwise it was not. Unless it matches
// [storage.ErrNoSpace], the store has stopped.
func (e *Engine) update(change func(*bolt.Tx) error) error {
	for least := int64(minGrowth); ; least *= 2 {
		txid := uint64(0) // of the commit, if it has begun
		err := e.transaction(true, func(tx *bolt.Tx) error {
			if err := change(tx); err != nil {
				return err
			}
			txid = uint64(tx.ID())
			return tx.Commit()
		})
		switch {
		case err == nil, errors.Is(err, errUnchanged):
			return nil
		case errors.Is(err, bolterrors.ErrMaxSizeReached): // nothing has been written
			if err := e.grow(least); err != nil {
				return err
			}
		default:
			return e.classify(txid, err)
		}
	}
}

// classify returns the outcome of the failed commit of transaction txid, 0 if it had not begun. If
// there was no space and the commit surely did not happen, the next one starts from the same state.
// Otherwise continuing could corrupt the database: the store stops.
func (e *Engine) classify(txid uint64, cause error) error {
	unknown := txid > 0 && e.mayHaveHappened(txid)
	if !unknown && NoSpace(cause) {
		e.lacks = max(e.lacks, minGrowth)
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, cause)
	}
	cause = e.explainCorrupt(cause)
	e.failStop.Stop(cause)
	if unknown {
		return fmt.Errorf("%w: %w", storage.ErrUnknown, cause)
	}
	return fmt.Errorf("commit: %w", cause)
}

// mayHaveHappened reports whether a meta page is of transaction txid, or corrupt: bbolt writes the
// new meta page last. The mapping is read first: some file systems let a write fail and keep it in
// their cache until it is read again.
func (e *Engine) mayHaveHappened(txid uint64) bool {
	var mapped uint64
	err := e.transaction(false, func(tx *bolt.Tx) error {
		mapped = uint64(tx.ID())
		return nil
	})
	if err != nil || mapped >= txid {
		return true
	}
	for page := range int64(2) {
		if m, ok := readMeta(e.file, page*e.pageSize); !ok || m.Txid >= txid {
			return true
		}
	}
	return false
}
