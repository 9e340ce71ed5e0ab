package bbolt

import (
	"context"
	"errors"
	"fmt"
	"iter"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// stageBytes bounds the records of one transaction of stage, and so its memory.
const stageBytes = 1 << 20

// stage is Stage of [storage.Features].
func (e *Engine) stage(ctx context.Context, seed iter.Seq2[storage.Record, error]) (err error) {
	defer e.failOnPanic(&err)
	if err := e.change(createStaged); err != nil {
		return err
	}
	var records []journal.Record
	size := 0
	for record, err := range seed {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return fmt.Errorf("read the seed: %w", err)
		}
		value, err := encode(keyOf(record.ID), record.Plant)
		if err != nil {
			return fmt.Errorf("encode the plant with the id %d: %w", record.ID, err)
		}
		records, size = append(records, journal.Record{ID: record.ID, Value: value}), size+len(value)
		if size < stageBytes { // a value has at least 16 bytes
			continue
		}
		if err := e.addStaged(records); err != nil {
			return err
		}
		records, size = records[:0], 0
	}
	return e.addStaged(records)
}

// createStaged creates the bucket for staged plants. An earlier stage that failed may have
// left one.
func createStaged(tx *bolt.Tx) error {
	if err := tx.DeleteBucket([]byte(stagedBucket)); err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
		return err
	}
	staged, err := tx.CreateBucket([]byte(stagedBucket))
	if err == nil {
		_, err = staged.CreateBucket([]byte(plantsBucket))
	}
	return err
}

// addStaged adds records to the staged plants.
func (e *Engine) addStaged(records []journal.Record) error {
	return e.change(func(tx *bolt.Tx) error {
		return put(tx.Bucket([]byte(stagedBucket)).Bucket([]byte(plantsBucket)), records)
	})
}

// replace is Replace of [storage.Features]. It empties the journal first, so that one
// transaction of the tree replaces all plants.
func (e *Engine) replace() (err error) {
	e.committing.Lock()
	defer e.committing.Unlock()
	defer e.failOnPanic(&err)
	if err := e.checkpointAll(); err != nil {
		return err
	}
	e.resetting.Lock()
	defer e.resetting.Unlock()
	plants := int64(0)
	err = e.change(func(tx *bolt.Tx) error {
		plants = countTree(tx.Bucket([]byte(stagedBucket)).Bucket([]byte(plantsBucket)))
		if err := tx.DeleteBucket([]byte(plantsBucket)); err != nil {
			return err
		}
		if err := tx.MoveBucket([]byte(plantsBucket), tx.Bucket([]byte(stagedBucket)), nil); err != nil {
			return err
		}
		return tx.DeleteBucket([]byte(stagedBucket))
	})
	if err != nil {
		return err
	}
	e.resets++
	e.plants.Store(plants)
	return e.confirm()
}
