package bbolt

import (
	"bytes"
	"fmt"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"plantstore/models"
	"plantstore/storage"
)

// appendFill is how full the file's pages are left by a batch that goes, for the
// greater part, after all that is stored: little will be inserted before its end.
const appendFill = 0.9

// keptMemory bounds the memory for records, in bytes, that is kept for the next
// batch: a usual one needs less.
const keptMemory = 1 << 20

// commit is the [storage.CommitFunc]: one transaction for the whole batch.
func (s *Store) commit(batch []storage.Item) error {
	// A page that cannot be read is a panic, which stops the store, and not the
	// end of the process.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if _, err := s.intact(); err != nil {
		s.group.Stop(err)
		return s.group.Ready()
	}
	tx, err := s.db.Begin(true)
	if err != nil {
		return s.failed(err)
	}
	defer s.release(tx)
	plants := tx.Bucket([]byte(plantsBucket))
	added, err := s.insert(plants, batch)
	if err != nil {
		return s.failed(err)
	}
	if added == 0 {
		return nil
	}
	if err := s.number(plants, added); err != nil {
		return s.failed(err)
	}
	s.writeAhead(tx.Size()) // no page is allocated before Commit
	s.db.AllocSize = growStep(s.size.Load())
	txid := uint64(tx.ID()) //nolint:gosec // bbolt has made an int of it
	if err := tx.Commit(); err != nil {
		return s.judge(txid, err)
	}
	s.mark.set(txid)
	s.plants.Add(int64(added))
	// Whether the file was still the one that a next start opens is only known
	// now.
	size, err := s.intact()
	if err != nil {
		s.group.Stop(err)
		return fmt.Errorf("%w: %w", storage.ErrUnknown, err)
	}
	s.size.Store(size)
	return nil
}

// release ends a transaction that was not committed, and does nothing after one
// that was. After a panic it sets bbolt's locks free, so that the file can be
// closed. If even that panics, the locks stay, and closing would wait for them
// for ever.
func (s *Store) release(tx *bolt.Tx) {
	defer func() {
		if p := recover(); p != nil {
			s.abandoned.Store(true)
			panic(p)
		}
	}()
	_ = tx.Rollback() // it fails if there is nothing to end
}

// insert puts those items of the batch into the bucket whose ids are free, says
// in the others why not, and returns how many it has put.
func (s *Store) insert(plants *bolt.Bucket, batch []storage.Item) (added int, err error) {
	stored := plants.Cursor()
	last, _ := stored.Last()
	if bytes.Compare(last, keyOf(batch[len(batch)/2].ID)) < 0 {
		plants.FillPercent = appendFill
	}
	memory := s.memory[:0] // bbolt needs the values until the commit; the next batch may have it
	for i := range batch {
		item := &batch[i]
		memory = appendKey(memory, item.ID)
		key := memory[len(memory)-keyLen:]
		if bytes.Compare(key, last) <= 0 { // else it is free: the batch is sorted
			if found, value := stored.Seek(key); bytes.Equal(found, key) {
				item.Existing, item.Err = existing(key, value)
				continue
			}
		}
		start := len(memory)
		extended, err := appendRecord(memory, key, item.Plant)
		if err != nil {
			item.Err = fmt.Errorf("encode the plant: %w", err)
			continue
		}
		memory = extended
		if err := plants.Put(key, memory[start:]); err != nil {
			return 0, err
		}
		added++
	}
	if cap(memory) <= keptMemory {
		s.memory = memory
	}
	return added, nil
}

// existing returns the plant that value stores under key, for an [storage.Item].
func existing(key, value []byte) (*models.Plant, error) {
	plant, err := decode(key, value)
	if err != nil {
		return nil, err
	}
	return &plant, nil
}
