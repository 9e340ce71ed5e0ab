package bbolt

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// structureTime bounds bbolt's own check of the structure of its file, which on
// some damaged files does not end. It is enough for some 100 GB.
const structureTime = 10 * time.Minute

// Check is [storage.Store.Check]: the structure of the file, by bbolt's own
// check, and then every record.
func (s *Store) Check(ctx context.Context) (storage.Report, error) {
	report := storage.Report{Damage: []string{}}
	if err := s.checkStructure(ctx, &report); err != nil {
		return report, err
	}
	for next := keyOf(math.MinInt64); next != nil; {
		found, err := s.sweep(next)
		for _, damage := range found.damage {
			report.Add("%v", damage)
		}
		if err != nil {
			report.Add("%v", err)
			return report, ctx.Err()
		}
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		report.Plants += found.plants
		next = found.after
	}
	return report, nil
}

// checkStructure adds what bbolt finds. A check that does not end is left to run
// until the process ends, and keeps the file open for so long.
func (s *Store) checkStructure(ctx context.Context, report *storage.Report) error {
	tx, err := s.db.Begin(false)
	if err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	findings := tx.Check()
	late := time.NewTimer(structureTime)
	defer late.Stop()
	for {
		select {
		case finding, more := <-findings:
			if !more {
				return tx.Rollback()
			}
			report.Add("structure: %v", finding)
		case <-late.C:
			s.abandon(findings)
			report.Add("structure: the check did not end in %v", structureTime)
			return nil
		case <-ctx.Done():
			s.abandon(findings)
			return ctx.Err()
		}
	}
}

// abandon leaves a check of the structure to itself.
func (s *Store) abandon(findings <-chan error) {
	s.abandoned.Store(true)
	go func() {
		for range findings { // nobody listens any more
			continue
		}
	}()
}

// What a sweep has found in a page of records.
type found struct {
	plants int64   // records that are whole
	damage []error // of the others
	after  []byte  // the key after them, nil at the end
}

// sweep reads a page of records from key start on, and goes on after a damaged
// one. The error is about more than single records.
func (s *Store) sweep(start []byte) (f found, err error) {
	err = s.view(func(plants *bolt.Bucket) error {
		var last []byte
		size, seen, c := 0, 0, plants.Cursor()
		for key, value := c.Seek(start); key != nil; key, value = c.Next() {
			if seen == pageRecords || size >= pageBytes {
				f.after = bytes.Clone(key)
				return nil
			}
			if last != nil && bytes.Compare(last, key) >= 0 {
				return fmt.Errorf("%w: key %x follows key %x", storage.ErrCorrupt, key, last)
			}
			if _, err := decode(key, value); err != nil {
				f.damage = append(f.damage, err)
			} else {
				f.plants++
			}
			last = key
			seen, size = seen+1, size+len(value)
		}
		return nil
	})
	return f, err
}
