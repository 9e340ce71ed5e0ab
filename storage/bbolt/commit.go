package bbolt

import (
	"bytes"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// journalBatch bounds a batch in the journal, in bytes. A larger one is cheaper in the tree alone
// than in both.
const journalBatch = 512 << 10

// usualRecord is the memory of a key and its value in bytes; a larger value is allocated again.
const usualRecord = 128

// Commit implements [storage.Engine]. It appends the batch to the journal, or writes
// it to the tree if it is large or the store has no journal. A batch without items is
// written, too.
func (e *Engine) Commit(batch []storage.Item) error {
	e.committing.Lock()
	defer e.committing.Unlock()
	if cause := e.failed.Load(); cause != nil {
		return e.fatal(*cause, nil)
	}
	records, err := e.encodeNew(batch)
	if err != nil || len(records) == 0 && len(batch) > 0 {
		return err
	}
	if err := e.write(records); err != nil {
		return err
	}
	e.plants.Add(int64(len(records)))
	return nil
}

// encodeNew returns the records of the items with free ids, and sets Existing or Err in
// the others.
func (e *Engine) encodeNew(batch []storage.Item) (records []journal.Record, err error) {
	for i := range batch {
		batch[i].Existing, batch[i].Err = e.pending(batch[i].ID)
	}
	records = make([]journal.Record, 0, len(batch))
	err = e.transaction(false, func(tx *bolt.Tx) error {
		stored := tx.Bucket([]byte(plantsBucket)).Cursor()
		last, _ := stored.Last()
		for i := range batch {
			item := &batch[i]
			if item.Existing != nil || item.Err != nil {
				continue
			}
			key := appendKey(make([]byte, 0, usualRecord), item.ID)
			if bytes.Compare(key, last) <= 0 { // else the id is free
				if found, value := stored.Seek(key); bytes.Equal(found, key) {
					item.Existing, item.Err = decode(key, value)
					continue
				}
			}
			value, err := encode(key, item.Plant)
			if err != nil {
				item.Err = fmt.Errorf("encode the plant: %w", err)
				continue
			}
			records = append(records, journal.Record{ID: item.ID, Value: value})
		}
		return nil
	})
	if err != nil {
		return nil, e.fail(err)
	}
	return records, nil
}

// write makes records durable, in the journal or in the tree.
func (e *Engine) write(records []journal.Record) error {
	if e.hasJournal() && e.state.Load().Clean { // a snapshot has marked the database clean, which must be its last commit
		if err := e.setClean(false); err != nil {
			return err
		}
	}
	if journal.Size(records) > min(journalBatch, e.journal.MaxBatch()) {
		return e.update(records, nil)
	}
	if e.noSpace.Load() { // for the last checkpoint: it is tried again
		if err := e.checkpoint(nil); err != nil {
			return err
		}
	}
	err := e.journal.Append(records)
	for errors.Is(err, journal.ErrFull) {
		if err := e.checkpoint(nil); err != nil {
			return err
		}
		err = e.journal.Append(records)
	}
	switch {
	case errors.Is(err, journal.ErrUnknown):
		return e.unknown(err)
	case err != nil && NoSpace(err):
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, err)
	case err != nil:
		return fmt.Errorf("append to the journal: %w", err)
	}
	return nil
}
