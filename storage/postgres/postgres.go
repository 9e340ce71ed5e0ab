// Package postgres is the engine for several machines over PostgreSQL, and over
// what speaks its protocol and shards: any number of processes share one table.
// What is in it, and how a create gets there, is described in
// docs/adr/0010-engines-over-a-network.md.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"plantstore/models"
	"plantstore/storage"
)

// The bounds of a batch. A statement has three parameters for each plant and one
// more, and the protocol allows 65,535.
const (
	batchPlants = 1000
	batchBytes  = 8 << 20
	writers     = 2
)

// pageRecords bounds the memory of a page of [storage.Store.List].
const pageRecords = 256

const (
	// timeout bounds a commit or a read, with all its attempts.
	timeout = 5 * time.Second
	// patience is how long the first attempt of a commit may take. A server
	// that has been cut off does not refuse, but keeps silent.
	patience = time.Second
	// pause is that between two attempts to read.
	pause = 50 * time.Millisecond
)

// A Store is a [storage.Store] in a table.
type Store struct {
	pool   *pgxpool.Pool
	group  *storage.GroupCommit
	pulse  *storage.Pulse // nil if it is open for reading only
	once   sync.Once      // closes
	closed atomic.Bool
}

var (
	_ storage.Store      = (*Store)(nil)
	_ storage.Observable = (*Store)(nil)
)

// Create is [storage.Store.Create].
func (s *Store) Create(ctx context.Context, id int64, plant models.Plant) error {
	return s.group.Create(ctx, id, plant)
}

// CreateAll is [storage.Store.CreateAll].
func (s *Store) CreateAll(ctx context.Context, records []storage.Record) []error {
	return s.group.CreateAll(ctx, records)
}

// Get is [storage.Store.Get].
func (s *Store) Get(ctx context.Context, id int64) (models.Plant, error) {
	page, err := s.read(ctx, selectOne, id)
	switch {
	case err != nil:
		return models.Plant{}, err
	case len(page) == 0:
		return models.Plant{}, storage.ErrNotFound
	}
	return page[0].Plant, nil
}

// List is [storage.Store.List]. Each page is a statement of its own, so that a slow
// caller keeps no transaction open.
func (s *Store) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for next := from; ; {
			page, err := s.read(ctx, selectFrom, next)
			if err != nil {
				yield(storage.Record{}, err)
				return
			}
			for _, record := range page {
				if err := ctx.Err(); err != nil {
					yield(storage.Record{}, err)
					return
				}
				if !yield(record, nil) {
					return
				}
			}
			if len(page) < pageRecords || page[len(page)-1].ID == math.MaxInt64 {
				return
			}
			next = page[len(page)-1].ID + 1
		}
	}
}

// Check is [storage.Store.Check]: it reads every row. What is below the rows, the
// server checks by itself.
func (s *Store) Check(ctx context.Context, each func(storage.Record) error) (storage.Report, error) {
	report := storage.Report{Damage: []string{}}
	for record, err := range s.List(ctx, math.MinInt64) {
		if err == nil {
			err = report.Count(record, each)
		}
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// read returns what a statement with an id selects, and tries again while no
// server answers, which does no harm.
func (s *Store) read(ctx context.Context, sql string, id int64) ([]storage.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	inTime, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for patience := patience; ; patience = min(2*patience, timeout) {
		page, err := s.tryRead(inTime, patience, sql, id)
		if err == nil {
			return page, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if told := new(pgconn.PgError); errors.As(err, &told) && final(told) || s.closed.Load() || !storage.Sleep(inTime, pause) {
			return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
	}
}

func (s *Store) tryRead(ctx context.Context, patience time.Duration, sql string, id int64) ([]storage.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	rows, err := s.pool.Query(ctx, sql, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (storage.Record, error) {
		r, err := scan(row)
		return r.Record, err
	})
}

// Ready is [storage.Store.Ready].
func (s *Store) Ready() error {
	if err := s.group.Ready(); err != nil {
		return err
	}
	return s.pulse.Err()
}

// wantWritable fails if the server does not answer, or is a standby.
func (s *Store) wantWritable(ctx context.Context) error {
	var readOnly string
	if err := s.pool.QueryRow(ctx, selectReadOnly).Scan(&readOnly); err != nil {
		return err
	}
	if readOnly == "on" {
		return errors.New("the server takes no writes: it is a standby, or default_transaction_read_only is on")
	}
	return nil
}

// Stats is [storage.Observable].
func (s *Store) Stats() storage.Stats { return storage.Stats{Group: s.group.Stats()} }

// Stopped is [storage.Store.Stopped]. This engine never stops itself: what it
// cannot reach it can reach again.
func (s *Store) Stopped() <-chan struct{} {
	return s.group.Stopped()
}

// Close is [storage.Store.Close].
func (s *Store) Close() error {
	s.once.Do(func() {
		if s.pulse != nil {
			s.pulse.Close()
		}
		s.group.Close()
		s.closed.Store(true)
		s.pool.Close()
	})
	return nil
}
