package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"plantstore/storage"
)

// insert is the [storage.InsertFunc]: one statement, which is a transaction by
// itself, and only if ids were taken a second one that looks by what.
func (s *Store) insert(ctx context.Context, request storage.Request, batch []storage.Item) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil { // nothing was sent
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	defer conn.Release()
	stored, err := put(ctx, conn, request, batch)
	if err != nil {
		return s.judge(err)
	}
	if len(stored) == len(batch) {
		for i := range batch {
			batch[i].Existing, batch[i].Err = nil, nil
		}
		return nil
	}
	there, err := lookUp(ctx, conn, batch, stored)
	if err != nil { // some may be stored; the next attempt finds them by the request
		return fmt.Errorf("%w: %w", storage.ErrUnknown, err)
	}
	for i := range batch {
		settle(&batch[i], request, stored, there)
	}
	return nil
}

// put inserts the plants whose ids are free and returns those ids.
func put(ctx context.Context, conn *pgxpool.Conn, request storage.Request, batch []storage.Item) (map[int64]bool, error) {
	rows, err := conn.Query(ctx, insertSQL(len(batch)), insertArguments(request, batch)...)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, err
	}
	stored := make(map[int64]bool, len(ids))
	for _, id := range ids {
		stored[id] = true
	}
	return stored, nil
}

// lookUp returns what is stored under the ids of the batch that are not in stored.
func lookUp(ctx context.Context, conn *pgxpool.Conn, batch []storage.Item, stored map[int64]bool) (map[int64]row, error) {
	var taken []int64
	for _, item := range batch {
		if !stored[item.ID] {
			taken = append(taken, item.ID)
		}
	}
	rows, err := conn.Query(ctx, selectTaken, taken)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scan)
	there := make(map[int64]row, len(list))
	for _, r := range list {
		there[r.ID] = r
	}
	return there, err
}

// settle notes what became of one create.
func settle(item *storage.Item, request storage.Request, stored map[int64]bool, there map[int64]row) {
	item.Existing, item.Err = nil, nil
	if stored[item.ID] {
		return
	}
	r, found := there[item.ID]
	switch {
	case !found: // somebody has deleted it since
		item.Err = fmt.Errorf("%w: id %d was taken and is gone", storage.ErrUnavailable, item.ID)
	case r.request != request: // else an earlier attempt of ours has put it there
		item.Existing = &r.Plant
	}
}

// judge says what the failure of an insert means. A statement that the server ends
// with an ERROR of these classes was rolled back. After anything else, above all
// a connection that is lost, it may be stored, or be about to be.
func (s *Store) judge(err error) error {
	told := new(pgconn.PgError)
	switch {
	case !errors.As(err, &told):
		if !errors.Is(err, context.DeadlineExceeded) {
			s.pool.Reset() // the other connections are not better
		}
		if pgconn.SafeToRetry(err) { // nothing was sent
			return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
	case !isError(told):
		s.pool.Reset()
	case told.Code == "53100":
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, err)
	case passing(told):
		if told.Code == readOnlySession { // this server is a primary no more
			s.pool.Reset()
		}
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	case final(told):
		return fmt.Errorf("PostgreSQL: %w", err)
	}
	return fmt.Errorf("%w: %w", storage.ErrUnknown, err)
}

// readOnlySession is the code of a server that takes no writes: a standby.
const readOnlySession = "25006"

// isError reports whether what the server told was about the statement, and not
// the end of the session or of the server.
func isError(told *pgconn.PgError) bool {
	return told.SeverityUnlocalized == "ERROR" || told.SeverityUnlocalized == "" && told.Severity == "ERROR"
}

// passing reports whether a statement was rolled back that may succeed when it is
// tried again: after a conflict, a deadlock, or on another server. A completion
// that the server does not know, 40003, is none of these.
func passing(told *pgconn.PgError) bool {
	switch told.Code {
	case "40001", "40P01", "40000", "53200", "55P03", readOnlySession:
		return true
	}
	return false
}

// final reports whether a statement was rolled back that will never succeed: for
// its syntax or its data, for want of a right or a table, or for a limit.
func final(told *pgconn.PgError) bool {
	if !isError(told) || len(told.Code) != 5 {
		return false
	}
	switch told.Code[:2] {
	case "0A", "22", "23", "28", "3D", "3F", "42", "53", "54":
		return true
	}
	return false
}
