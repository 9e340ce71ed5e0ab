// Package bbolt is the embedded engine: it keeps the plants in one file of this
// machine, which one process at a time may open. What is in the file is
// described in docs/adr/0002-record-layout.md.
package bbolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"plantstore/models"
	"plantstore/storage"
)

// A page of [Store.List] ends after so many records, or so many bytes of them.
// While a page is being read a commit may have to wait for it.
const (
	pageRecords = 1000
	pageBytes   = 1 << 20
)

// batchPlants bounds the plants of one commit. It is more than can be queued one
// by one: what comes in bulk needs few commits then, of some 30 ms each.
const batchPlants = 16_384

// A Store is a [storage.Store] in one file.
type Store struct {
	db       *bolt.DB
	file     *os.File // that of db, to see what a failed commit has left in it
	pageSize int64    // of the file
	id       string   // of the database
	group    *storage.GroupCommit
	logger   *slog.Logger

	// The following is that of a store which is open for writing.

	memory []byte // for the records of a batch
	mark   *mark
	opened sighting     // of file, to know it again
	size   atomic.Int64 // of file, at least
	plants atomic.Int64 // that are stored

	written int64 // offset in bytes up to which zeros have been written ahead; commits alone use it

	scrubbed scrubMeter

	stop      context.CancelFunc // ends watch and scrub
	watchers  sync.WaitGroup
	abandoned atomic.Bool // bbolt holds locks that it will not let go
	once      sync.Once   // closes
	closeErr  error
}

var _ storage.Store = (*Store)(nil)

// writable reports whether the store is open for writing.
func (s *Store) writable() bool { return s.mark != nil }

// run starts what a store does by itself.
func (s *Store) run() {
	s.group = storage.NewGroupCommit(s.commit, storage.Limits{BatchPlants: batchPlants})
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.watchers.Go(func() { s.watch(ctx) })
	s.watchers.Go(func() { s.scrub(ctx) })
}

// Create is [storage.Store.Create]. A plant whose name or tag is not valid
// UTF-8 is refused, since it could not be kept byte for byte (C2.14).
func (s *Store) Create(ctx context.Context, id int64, plant models.Plant) error {
	return s.group.Create(ctx, id, plant)
}

// CreateAll is [storage.Store.CreateAll].
func (s *Store) CreateAll(ctx context.Context, records []storage.Record) []error {
	return s.group.CreateAll(ctx, records)
}

// Get is [storage.Store.Get].
func (s *Store) Get(ctx context.Context, id int64) (plant models.Plant, err error) {
	if err := ctx.Err(); err != nil {
		return models.Plant{}, err
	}
	err = s.view(func(plants *bolt.Bucket) error {
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

// List is [storage.Store.List]. It reads page by page, so that a slow caller
// neither holds up creates nor keeps old pages of the file from being reused.
func (s *Store) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for next := keyOf(from); next != nil; {
			records, after, err := s.readPage(next)
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
			next = after
		}
	}
}

// readPage returns the records from key start on, up to the bounds of a page,
// and the key after them, nil at the end. Those before an error it returns, too.
func (s *Store) readPage(start []byte) (records []storage.Record, after []byte, err error) {
	err = s.view(func(plants *bolt.Bucket) error {
		size, c := 0, plants.Cursor()
		for key, value := c.Seek(start); key != nil; key, value = c.Next() {
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
		return nil
	})
	return records, after, err
}

// view reads in a transaction of its own. bbolt panics where it finds the
// structure of its file broken, and so does reading the mapped file where the
// disk fails or the file has been cut short.
func (s *Store) view(read func(plants *bolt.Bucket) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			s.logger.Error("a page of the database cannot be read: run plantstore check, restore a backup",
				"database", s.file.Name(), "cause", fmt.Sprint(p))
			err = fmt.Errorf("%w: a page of %s is damaged, or cannot be read", storage.ErrCorrupt, s.file.Name())
		}
	}()
	err = s.db.View(func(tx *bolt.Tx) error { return read(tx.Bucket([]byte(plantsBucket))) })
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) || errors.Is(err, bolterrors.ErrInvalidMapping) {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return err
}

// Ready is [storage.Store.Ready].
func (s *Store) Ready() error {
	return s.group.Ready()
}

// Stopped is [storage.Store.Stopped].
func (s *Store) Stopped() <-chan struct{} {
	return s.group.Stopped()
}

// Close is [storage.Store.Close].
func (s *Store) Close() error {
	s.once.Do(func() { s.closeErr = s.shut() })
	return s.closeErr
}

func (s *Store) shut() error {
	var err error
	s.group.Close()
	if s.writable() {
		s.stop()
		s.watchers.Wait()
		err = s.mark.close()
	}
	if s.abandoned.Load() { // the file must stay mapped
		return err
	}
	return errors.Join(err, s.db.Close())
}
