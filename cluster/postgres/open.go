package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"plantstore/cluster/internal/retry"
	"plantstore/internal/files"
	"plantstore/storage"
)

const (
	connectTimeout = 2 * time.Second // the default, for each host
	connections    = 8               // the default: for the writers and some readers
)

// Open is the [storage.Opener] of this engine. It creates the table if it does not exist. A store that
// cannot reach its server opens, unless it is for reading, and is not ready until it can.
// The URL is a connection URI of libpq, with the additional pool_ options of pgx.
func Open(ctx context.Context, loc storage.Location, options storage.Options) (*storage.Store, error) {
	config, err := parseURL(loc)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrURL, err)
	}
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, err
	}
	e := &Engine{pool: pool, retry: retry.Policy{Timeout: timeout, Attempt: firstAttempt}}
	switch err := e.prepare(ctx, options.ReadOnly); {
	case err != nil && (options.ReadOnly || !unreachable(err)):
		pool.Close()
		first := config.ConnConfig // of several hosts
		return nil, fmt.Errorf("PostgreSQL at %s:%d/%s: %w", first.Host, first.Port, first.Database, advise(err))
	case err != nil:
		options.Log().Warn("no connection to PostgreSQL: creates refused until there is one", "cause", advise(err).Error())
	}
	return storage.New(e, nil, storage.Limits{
		BatchPlants: batchPlants, BatchBytes: batchBytes, Writers: writers,
	}, options), nil
}

// prepare runs ensureTable until it has succeeded once.
func (e *Engine) prepare(ctx context.Context, readOnly bool) error {
	if e.prepared.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := e.ensureTable(ctx, readOnly)
	e.prepared.Store(err == nil)
	return err
}

// errUnfit is matched by errors of a database that cannot be used as it is.
var errUnfit = errors.New("the database is not suitable")

// unreachable reports whether an error of prepare may pass: the server is down, starting, or busy.
func unreachable(err error) bool {
	if rejection, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(rejection.Code, "57") || strings.HasPrefix(rejection.Code, "53") || transient(rejection)
	}
	return !errors.Is(err, errUnfit)
}

// parseURL parses a storage URL. Its errors never quote a password.
func parseURL(loc storage.Location) (*pgxpool.Config, error) {
	_, rest, _ := strings.Cut(loc.URL, ":")
	if !strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "///") {
		return nil, errors.New("names no host; write postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
			"and for a socket postgres://localhost/DATABASE?host=/DIRECTORY")
	}
	if err := checkKey(rest); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig("postgres:" + rest)
	if err != nil {
		return nil, fmt.Errorf("cannot be read%s; write postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE, "+
			"with %% and two digits for special characters", reason(err))
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if !strings.Contains(rest, "pool_max_conns=") {
		config.MaxConns = connections
	}
	if !strings.Contains(rest, "default_query_exec_mode=") {
		// One round trip and no state on the server, for connection poolers.
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	// A ping is redundant: the next statement detects a broken connection, too.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		nameTypes(conn.TypeMap())
		return requireDurable(ctx, conn)
	}
	return config, nil
}

// checkKey rejects a private key file, sslkey in the URL, that other users can change.
// Unlike libpq it accepts one that they can only read. The driver reads the file itself.
func checkKey(rest string) error {
	_, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil || values.Get("sslkey") == "" {
		return nil //nolint:nilerr // the driver reports a malformed URL
	}
	if _, err := files.ReadSecret(values.Get("sslkey")); err != nil {
		return fmt.Errorf("sslkey: %w", err)
	}
	return nil
}

// nameTypes registers the PostgreSQL types of the statements' parameters.
// QueryExecModeExec requires them, and pgx is built without its list of all types.
func nameTypes(types *pgtype.Map) {
	types.RegisterDefaultPgType(int64(0), "int8")
	types.RegisterDefaultPgType([]int64(nil), "_int8")
	types.RegisterDefaultPgType([]byte(nil), "bytea")
	types.RegisterDefaultPgType(pgtype.UUID{}, "uuid")
}

// reason returns the option that caused a parse error, if it can't be a secret.
func reason(err error) string {
	for _, option := range []string{"sslmode", "connect_timeout", "pool_", "target_session_attrs", "port", "default_query_exec_mode"} {
		if strings.Contains(err.Error(), ": invalid "+option) || strings.Contains(err.Error(), "cannot parse "+option) {
			return " (" + strings.TrimSuffix(option, "_") + ")"
		}
	}
	return ""
}

// requireDurable rejects a server whose commits are not durable (C5.26). Servers other
// than PostgreSQL lack these settings.
func requireDurable(ctx context.Context, conn *pgx.Conn) error {
	var fsync, synchronous string
	if err := conn.QueryRow(ctx, selectSettings).Scan(&fsync, &synchronous); err != nil {
		return err
	}
	for name, value := range map[string]string{"fsync": fsync, "synchronous_commit": synchronous} {
		if value == "off" {
			return fmt.Errorf("%w: %s is off, so that a power failure can lose stored plants: switch it on", errUnfit, name)
		}
	}
	return nil
}

// ensureTable creates the table if it does not exist, unless readOnly is set, and verifies
// its columns.
func (e *Engine) ensureTable(ctx context.Context, readOnly bool) error {
	found, err := e.columns(ctx)
	var createErr error
	if err == nil && found == "" && !readOnly {
		_, createErr = e.pool.Exec(ctx, createTable)
		found, err = e.columns(ctx) // also after an error: another server may create it at the same time
	}
	switch {
	case err != nil:
		return err
	case found == "":
		return cmp.Or(createErr, fmt.Errorf("%w: there is no table plants: start a server on it first", errUnfit))
	case found != columns:
		return fmt.Errorf("%w: the table plants has the columns %s instead of %s: name another database", errUnfit, found, columns)
	}
	return nil
}

// columns returns the columns of the existing table; empty: there is no table.
func (e *Engine) columns(ctx context.Context) (string, error) {
	rows, _ := e.pool.Query(ctx, selectColumns) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var name, kind string
		err := row.Scan(&name, &kind)
		return name + " " + kind, err
	})
	return strings.Join(list, ", "), err
}

// advise adds the remedy to an error of opening, in one line.
func advise(err error) error {
	failure, rejected := errors.AsType[*pgconn.PgError](err)
	switch {
	case rejected && failure.Code == "42501":
		return fmt.Errorf("the user lacks a right: grant SELECT and INSERT on the table plants, and CREATE in the schema if the table does not exist: %w", failure)
	case rejected && strings.HasPrefix(failure.Code, "28"):
		return fmt.Errorf("the user or the password is wrong: %w", failure)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no response within %v: %w", timeout, err)
	}
	// pgx writes a line for each address and TLS mode that it has tried.
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return errors.New(strings.Join(lines, " "))
}
