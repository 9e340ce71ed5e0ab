package postgres

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"plantstore/cluster/internal/retry"
	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/models"
	"plantstore/storage"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

// An unsent error is an error of pgx for a request that was not sent.
type unsent struct{}

func (unsent) Error() string     { return "unsent" }
func (unsent) SafeToRetry() bool { return true }

// rejected returns an error of the server.
func rejected(severity, code string) error {
	return &pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: severity, Code: code}
}

// TestClassify checks that "Not stored" is reported only if it is certain (C5.28).
func TestClassify(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for name, test := range map[string]struct {
		err  error
		want error // nil: none of the store's own
	}{
		"serialization failure":    {rejected("ERROR", "40001"), storage.ErrUnavailable},
		"deadlock":                 {rejected("ERROR", "40P01"), storage.ErrUnavailable},
		"completion unknown":       {rejected("ERROR", "40003"), storage.ErrUnknown},
		"standby":                  {rejected("ERROR", "25006"), storage.ErrUnavailable},
		"out of memory":            {rejected("ERROR", "53200"), storage.ErrUnavailable},
		"disk full":                {rejected("ERROR", "53100"), storage.ErrNoSpace},
		"disk full, fatal":         {rejected("FATAL", "53100"), storage.ErrUnknown},
		"no right":                 {rejected("ERROR", "42501"), nil},
		"no table":                 {rejected("ERROR", "42P01"), nil},
		"shut down":                {rejected("FATAL", "57P01"), storage.ErrUnknown},
		"crash of another session": {rejected("WARNING", "57P02"), storage.ErrUnknown},
		"cancelled":                {rejected("ERROR", "57014"), storage.ErrUnknown},
		"internal":                 {rejected("ERROR", "XX000"), storage.ErrUnknown},
		"without an old severity":  {&pgconn.PgError{Severity: "ERROR", Code: "40001"}, storage.ErrUnavailable},
		"without a code":           {rejected("ERROR", ""), storage.ErrUnknown},
		"deadline":                 {context.DeadlineExceeded, storage.ErrUnknown},
		"connection lost":          {io.ErrUnexpectedEOF, storage.ErrUnknown},
		"never sent":               {unsent{}, storage.ErrUnavailable},
	} {
		err := e.classify(test.err)
		for _, known := range []error{storage.ErrUnavailable, storage.ErrNoSpace, storage.ErrUnknown} {
			if errors.Is(err, known) != (known == test.want) { //nolint:errorlint // the very value is meant
				t.Errorf("%s: %v, want: %v", name, err, test.want)
			}
		}
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v does not contain the cause", name, err)
		}
	}
}

// newEngine returns an engine without a server.
func newEngine(t *testing.T) *Engine {
	t.Helper()
	config := must.Get(parseURL(storage.Location{URL: "postgres://127.0.0.1:1/plants"}))(t)
	pool := must.Get(pgxpool.NewWithConfig(t.Context(), config))(t)
	t.Cleanup(pool.Close)
	return &Engine{pool: pool}
}

// TestResolve checks that the outcome for a taken id depends on its row: with our own token,
// with another one, or deleted.
func TestResolve(t *testing.T) {
	t.Parallel()
	ours, others := retry.Token{1}, retry.Token{2}
	plant := models.Plant{Name: "Monstera"}
	for name, test := range map[string]struct {
		stored   []row
		existing bool
		err      error
	}{
		"ours":      {stored: []row{{storage.Record{ID: 1}, ours}}},
		"another's": {stored: []row{{storage.Record{ID: 1}, others}}, existing: true},
		"gone":      {err: storage.ErrUnavailable},
	} {
		item := storage.Item{Record: storage.Record{ID: 1, Plant: plant}}
		resolve(map[int64]*storage.Item{1: &item}, ours, test.stored)
		if (item.Existing != nil) != test.existing || !errors.Is(item.Err, test.err) {
			t.Errorf("%s: existing %v, error %v", name, item.Existing, item.Err)
		}
	}
}
