package bbolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/wait"
	"plantstore/storage"
)

const (
	monitorPause = time.Second            // between two checks of the files
	scrubStart   = 10 * time.Second       // after opening
	scrubPause   = 100 * time.Millisecond // between pages of records
	scrubRest    = time.Hour              // between two passes through all records
)

// monitor stops the store when one of its files is removed, replaced or truncated, also
// while nothing is committed.
func (e *Engine) monitor(ctx context.Context, stop func(cause error)) {
	for wait.Sleep(ctx, monitorPause) {
		err := e.verifyFiles()
		if cause := e.failed.Load(); cause != nil {
			err = *cause
		}
		if err != nil {
			stop(err)
			return
		}
	}
}

// scrub continuously re-reads all records at a low rate, so that corruption is found
// before a record is needed.
func (e *Engine) scrub(ctx context.Context) {
	for pause := scrubStart; wait.Sleep(ctx, pause); pause = scrubRest {
		start, plants, damaged := time.Now(), int64(0), 0
		for next := keyOf(math.MinInt64); next != nil; {
			found, err := e.sweep(next)
			if errors.Is(err, storage.ErrUnavailable) {
				return
			}
			if err != nil {
				found.damage = append(found.damage, err)
			}
			e.scrubbed.page(found)
			for _, damage := range found.damage {
				e.logger.Error("the scrub found damage: run plantstore check, restore a backup",
					"database", e.file.Name(), "damage", damage.Error())
			}
			plants, damaged = plants+found.plants, damaged+len(found.damage)
			if next = found.after; !wait.Sleep(ctx, scrubPause) {
				return
			}
		}
		e.scrubbed.pass(damaged)
		e.logger.Info("scrubbed", "database", e.file.Name(), "plants", plants, "damaged", damaged, "took", time.Since(start))
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
func (e *Engine) sweep(start []byte) (f found, err error) {
	err = e.view(func(plants *bolt.Bucket) error {
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
