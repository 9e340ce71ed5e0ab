package bbolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// How often the open file is looked after. Reading a page of records a few times
// a second takes no time that anybody would miss.
const (
	watchPause = time.Second            // between looks at the file itself
	scrubStart = 10 * time.Second       // after the opening: others have more to do then, and to say
	scrubPause = 100 * time.Millisecond // between pages of records
	scrubRest  = time.Hour              // between two passes through all records
)

// watch stops the store when its file is removed, replaced or cut short, also
// while there is nothing to commit.
func (s *Store) watch(ctx context.Context) {
	for storage.Sleep(ctx, watchPause) {
		if _, err := s.intact(); err != nil {
			s.group.Stop(err)
			return
		}
	}
}

// scrub reads all records again and again, slowly, so that damage is found
// before anybody needs what is damaged.
func (s *Store) scrub(ctx context.Context) {
	for wait := scrubStart; storage.Sleep(ctx, wait); wait = scrubRest {
		start, plants, damaged := time.Now(), int64(0), 0
		for next := keyOf(math.MinInt64); next != nil; {
			found, err := s.sweep(next)
			if errors.Is(err, storage.ErrUnavailable) {
				return
			}
			if err != nil {
				found.damage = append(found.damage, err)
			}
			s.scrubbed.page(found)
			for _, damage := range found.damage {
				s.logger.Error("the scrub found damage: run plantstore check, restore a backup",
					"database", s.file.Name(), "damage", damage.Error())
			}
			plants, damaged = plants+found.plants, damaged+len(found.damage)
			if next = found.after; !storage.Sleep(ctx, scrubPause) {
				return
			}
		}
		s.scrubbed.pass(damaged)
		s.logger.Info("scrubbed", "database", s.file.Name(), "plants", plants, "damaged", damaged, "took", time.Since(start))
	}
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
