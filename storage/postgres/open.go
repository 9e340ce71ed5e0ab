package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"plantstore/storage"
)

const (
	// connectTimeout bounds the way to one host, unless the URL says otherwise.
	connectTimeout = 2 * time.Second
	// connections are as many as the writers need, and some to read, unless the
	// URL says otherwise.
	connections = 8
)

// Open is the [storage.Opener] of this engine. It makes the table if there is none.
// The URL is one as libpq takes it, with those options of pgx that begin with
// pool_.
func Open(ctx context.Context, loc storage.Location) (storage.Store, error) {
	config, err := parseURL(loc)
	if err != nil {
		return nil, storage.BadURL(err)
	}
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, err
	}
	s := &Store{pool: pool, group: storage.ReadOnly()}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := s.settleSchema(ctx, loc.ReadOnly); err != nil {
		pool.Close()
		return nil, fmt.Errorf("PostgreSQL at %s: %w", place(config), explain(err))
	}
	if !loc.ReadOnly {
		commit := storage.Remote{Insert: s.insert, Timeout: timeout, Patience: patience}.Commit
		s.group = storage.NewGroupCommit(commit, storage.Limits{BatchPlants: batchPlants, BatchBytes: batchBytes, Writers: writers})
		s.pulse = storage.NewPulse(s.wantWritable) //nolint:contextcheck // it outlives the context of the opening
	}
	return s, nil
}

// parseURL takes a storage URL apart. Its errors do not repeat what may be a
// password.
func parseURL(loc storage.Location) (*pgxpool.Config, error) {
	_, rest, _ := strings.Cut(loc.URL, ":")
	if !strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "///") {
		return nil, errors.New("postgres URL: names no host; write postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
			"and for a socket postgres://localhost/DATABASE?host=/FOLDER")
	}
	config, err := pgxpool.ParseConfig("postgres:" + rest)
	if err != nil {
		return nil, fmt.Errorf("postgres URL: cannot be read%s; write postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE, "+
			"with %% and two digits for what is special", reason(err))
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if !strings.Contains(rest, "pool_max_conns=") {
		config.MaxConns = connections
	}
	if !strings.Contains(rest, "default_query_exec_mode=") {
		// One round trip, and no state on the server: a pooler may stand between.
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	// What a look would find out, the next statement finds out as well.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		nameTypes(conn.TypeMap())
		return requireDurable(ctx, conn)
	}
	return config, nil
}

// nameTypes says which types of PostgreSQL the parameters of the statements have.
// QueryExecModeExec must know, and pgx is built without its list of all types.
func nameTypes(types *pgtype.Map) {
	types.RegisterDefaultPgType(int64(0), "int8")
	types.RegisterDefaultPgType([]int64(nil), "_int8")
	types.RegisterDefaultPgType([]byte(nil), "bytea")
	types.RegisterDefaultPgType(pgtype.UUID{}, "uuid")
}

// reason returns what an error of parsing is about, if that cannot be a secret.
func reason(err error) string {
	for _, option := range []string{"sslmode", "connect_timeout", "pool_", "target_session_attrs", "port", "default_query_exec_mode"} {
		if strings.Contains(strings.TrimPrefix(err.Error(), "cannot parse `"), ": invalid "+option) ||
			strings.Contains(err.Error(), "cannot parse "+option) {
			return " (" + strings.TrimSuffix(option, "_") + ")"
		}
	}
	return ""
}

// place names the first host and the database.
func place(config *pgxpool.Config) string {
	return fmt.Sprintf("%s:%d/%s", config.ConnConfig.Host, config.ConnConfig.Port, config.ConnConfig.Database)
}

// requireDurable refuses a connection on which a commit says nothing about the
// disk (C5.26). Other servers than PostgreSQL have no such settings.
func requireDurable(ctx context.Context, conn *pgx.Conn) error {
	var fsync, synchronous string
	if err := conn.QueryRow(ctx, selectSettings).Scan(&fsync, &synchronous); err != nil {
		return err
	}
	for name, value := range map[string]string{"fsync": fsync, "synchronous_commit": synchronous} {
		if value == "off" {
			return fmt.Errorf("%s is off, so that a power cut can take back what was stored: switch it on", name)
		}
	}
	return nil
}

// settleSchema makes the table if there is none and it may, and makes sure that
// there is one with the columns that this program knows.
func (s *Store) settleSchema(ctx context.Context, readOnly bool) error {
	found, err := s.columns(ctx)
	if err == nil && found == "" && !readOnly {
		if err = s.create(ctx); err == nil {
			found, err = s.columns(ctx)
		}
	}
	switch {
	case err != nil:
		return err
	case found == "":
		return errors.New("there is no table plants: start a server on it first")
	case found != columns:
		return fmt.Errorf("the table plants has the columns %s, want: %s", found, columns)
	}
	return nil
}

// columns returns those of the table that is there.
func (s *Store) columns(ctx context.Context) (string, error) {
	rows, err := s.pool.Query(ctx, selectColumns)
	if err != nil {
		return "", err
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var name, kind string
		err := row.Scan(&name, &kind)
		return name + " " + kind, err
	})
	return strings.Join(list, ", "), err
}

// create makes the table, while no other process does. Where there are no such
// locks, making it twice does no harm either.
func (s *Store) create(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockSchema); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, createTable)
		return err
	})
	if told := new(pgconn.PgError); errors.As(err, &told) && (told.Code == "0A000" || told.Code == "42883") {
		_, err = s.pool.Exec(ctx, createTable)
	}
	return err
}

// explain says what can be done about an error of opening, in one line.
func explain(err error) error {
	told := new(pgconn.PgError)
	switch {
	case errors.As(err, &told) && told.Code == "42501":
		return fmt.Errorf("the user lacks a right; it needs SELECT and INSERT on the table plants, and CREATE in the schema to make it: %w", told)
	case errors.As(err, &told) && strings.HasPrefix(told.Code, "28"):
		return fmt.Errorf("the user or the password is wrong: %w", told)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v: %w", timeout, err)
	}
	// Of an attempt to connect, pgx makes a line for each address and each way.
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return errors.New(strings.Join(lines, " "))
}
