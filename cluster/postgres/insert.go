package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plantstore/cluster/internal/retry"
	"plantstore/storage"
)

// insert is a [retry.InsertFunc]. It executes one statement, which is a transaction, and,
// if ids are taken, a second one that reads their plants.
func (e *Engine) insert(ctx context.Context, token retry.Token, batch []storage.Item) error {
	switch err := e.prepare(ctx, false); {
	case err != nil && unreachable(err): // nothing was sent
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	case err != nil:
		return err
	case len(batch) == 0:
		return e.tryToWrite(ctx, token)
	}
	conn, err := e.pool.Acquire(ctx)
	if err != nil { // nothing was sent
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	defer conn.Release()
	taken := make(map[int64]*storage.Item, len(batch)) // by id
	for i := range batch {
		taken[batch[i].ID] = &batch[i]
	}
	rows, _ := conn.Query(ctx, insertSQL(len(batch)), insertArguments(token, batch)...) // CollectRows returns its error
	inserted, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return e.classify(err)
	}
	for _, id := range inserted {
		delete(taken, id)
	}
	if len(taken) == 0 {
		return nil
	}
	rows, _ = conn.Query(ctx, selectTaken, slices.Collect(maps.Keys(taken)))
	stored, err := pgx.CollectRows(rows, scan)
	if err != nil { // some plants may be stored; a retry detects them by the token
		return fmt.Errorf("%w: %w", storage.ErrUnknown, err)
	}
	resolve(taken, token, stored)
	return nil
}

// resolve sets the outcomes of creates with taken ids, by the rows that are stored.
func resolve(taken map[int64]*storage.Item, token retry.Token, stored []row) {
	for _, r := range stored {
		if item, ok := taken[r.ID]; ok && r.token != token {
			item.Existing = &r.Plant
		}
		delete(taken, r.ID)
	}
	for id, item := range taken { // another program deleted it in between
		item.Err = fmt.Errorf("%w: id %d was taken and is gone", storage.ErrUnavailable, id)
	}
}

// tryToWrite commits a transaction that inserts a plant and rolls it back to a savepoint.
// It needs the same rights and resources as a create.
func (e *Engine) tryToWrite(ctx context.Context, token retry.Token) error {
	id := int64(binary.LittleEndian.Uint64(token[:]))
	batch := []storage.Item{{Record: storage.Record{ID: id}}}
	err := pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		savepoint, err := tx.Begin(ctx)
		if err != nil {
			return err
		}
		if _, err := savepoint.Exec(ctx, insertSQL(len(batch)), insertArguments(token, batch)...); err != nil {
			return err
		}
		return savepoint.Rollback(ctx)
	})
	if err != nil {
		return e.classify(err)
	}
	return nil
}

// classify wraps the error of an insert in a storage error. A statement that failed with
// an ERROR of a transient or permanent code was rolled back. After any other error, such
// as a lost connection, the outcome is unknown.
func (e *Engine) classify(err error) error {
	rejection, rejected := errors.AsType[*pgconn.PgError](err)
	switch {
	case !rejected:
		if !errors.Is(err, context.DeadlineExceeded) {
			e.pool.Reset() // assume that the other connections are broken, too
		}
		if pgconn.SafeToRetry(err) { // nothing was sent
			return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
	case !isError(rejection):
		e.pool.Reset()
	case rejection.Code == "53100":
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, err)
	case transient(rejection):
		if rejection.Code == readOnlySession { // this server is no longer the primary
			e.pool.Reset()
		}
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	case permanent(rejection):
		return fmt.Errorf("PostgreSQL: %w", err)
	}
	return fmt.Errorf("%w: %w", storage.ErrUnknown, err)
}

// readOnlySession is the error code of writes to a standby.
const readOnlySession = "25006"

// isError reports whether an error of the server concerns only the statement, not the
// session or the server.
func isError(rejection *pgconn.PgError) bool {
	return rejection.SeverityUnlocalized == "ERROR" || rejection.SeverityUnlocalized == "" && rejection.Severity == "ERROR"
}

// transient reports whether a statement was rolled back and may succeed if it is retried:
// after a conflict or a deadlock, or on another server. 40003, statement completion
// unknown, is not transient.
func transient(rejection *pgconn.PgError) bool {
	return slices.Contains([]string{"40001", "40P01", "40000", "53200", "55P03", readOnlySession}, rejection.Code)
}

// permanent reports whether a statement was rolled back and would fail again, because of
// its syntax or data, a missing right or table, or a limit.
func permanent(rejection *pgconn.PgError) bool {
	classes := []string{"0A", "22", "23", "28", "3D", "3F", "42", "53", "54"}
	return isError(rejection) && len(rejection.Code) == 5 && slices.Contains(classes, rejection.Code[:2])
}
