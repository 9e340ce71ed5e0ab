// Package postgres stores plants in PostgreSQL or a compatible database. Any number of processes
// share one table. docs/adr/0010-engines-over-a-network.md describes the table and how a create
// works.
package postgres

import (
	"context"
	"errors"
	"iter"
	"math"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"plantstore/cluster/internal/retry"
	"plantstore/models"
	"plantstore/storage"
)

// The limits of a batch. A statement has three parameters for each plant and one more;
// the protocol allows 65,535.
const (
	batchPlants = 1000
	batchBytes  = 8 << 20
	writers     = 2
)

// pageRecords limits the memory of a page of List.
const pageRecords = 256

const (
	timeout      = 5 * time.Second // of a commit or a read, including retries
	firstAttempt = time.Second     // timeout of the first: a partitioned server does not respond
)

// An Engine is a [storage.Engine] in a table.
type Engine struct {
	pool     *pgxpool.Pool
	retry    retry.Policy
	prepared atomic.Bool // see prepare
	closed   atomic.Bool
}

var _ storage.Engine = (*Engine)(nil)

// Commit implements [storage.Engine].
func (e *Engine) Commit(batch []storage.Item) error { return e.retry.Commit(batch, e.insert) }

// Get implements [storage.Engine].
func (e *Engine) Get(ctx context.Context, id int64) (models.Plant, error) {
	page, err := e.read(ctx, selectOne, id)
	switch {
	case err != nil:
		return models.Plant{}, err
	case len(page) == 0:
		return models.Plant{}, storage.ErrNotFound
	}
	return page[0].Plant, nil
}

// List implements [storage.Engine]. Each page is a separate statement, so that a slow
// caller does not keep a transaction open.
func (e *Engine) List(ctx context.Context, from int64, descending bool) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		sql, step, end := selectFrom, int64(1), int64(math.MaxInt64)
		if descending {
			sql, step, end = selectDescending, -1, math.MinInt64
		}
		for next := from; ; {
			page, err := e.read(ctx, sql, next)
			if err != nil {
				yield(storage.Record{}, err)
				return
			}
			for _, r := range page {
				if !yield(r.Record, nil) {
					return
				}
			}
			if len(page) < pageRecords || page[len(page)-1].ID == end {
				return
			}
			next = page[len(page)-1].ID + step
		}
	}
}

// read returns the plants that a statement with an id selects, and retries while no server
// responds.
func (e *Engine) read(ctx context.Context, sql string, id int64) (page []row, err error) {
	err = e.retry.Read(ctx, func(ctx context.Context) error {
		rows, _ := e.pool.Query(ctx, sql, id) // CollectRows returns its error
		page, err = pgx.CollectRows(rows, scan)
		return err
	}, func(err error) bool {
		rejection, rejected := errors.AsType[*pgconn.PgError](err)
		return !(rejected && permanent(rejection)) && !e.closed.Load()
	})
	return page, err
}

// Close implements [storage.Engine].
func (e *Engine) Close() error {
	e.closed.Store(true)
	e.pool.Close()
	return nil
}
