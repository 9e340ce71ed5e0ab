package operate_test

import (
	"context"
	"errors"
	"flag"
	"iter"
	"log/slog"
	"path/filepath"
	"testing"

	"plantstore/internal/must"
	"plantstore/internal/operate"
	"plantstore/internal/watchdog"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
	"plantstore/storage/storagetest"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

// TestSuite runs the suite of the engines with a client. Package bbolt runs more random operations
// with the engine itself.
//
//nolint:paralleltest // the suite checks for leaked goroutines
func TestSuite(t *testing.T) {
	must.Do(t, flag.Set("rapid.checks", "20"))
	storagetest.Run(t, func(t testing.TB) storagetest.Open {
		path := filepath.Join(t.TempDir(), "plants.db")
		return func() (storagetest.Store, error) { return openRemote(t, path) }
	})
}

// A remote is a client with its server.
type remote struct {
	*operate.Client

	server *operate.Server
	store  *storage.Store // of the server
}

// Create implements [storagetest.Store].
func (r *remote) Create(ctx context.Context, id int64, plant models.Plant) error {
	return r.CreateAll(ctx, []storage.Record{{ID: id, Plant: plant}})[0]
}

// ListDescending implements [storagetest.Store]: no command needs it of a client.
func (r *remote) ListDescending(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return r.store.ListDescending(ctx, from)
}

// Ready implements [storagetest.Store].
func (r *remote) Ready() error { return r.Client.Ready(context.Background()) }

// openRemote opens the database, serves it and connects to it.
func openRemote(t testing.TB, path string) (*remote, error) {
	t.Helper()
	store, err := bbolt.OpenFile(path, storage.Options{})
	if err != nil {
		return nil, err
	}
	server := serve(t, path, store)
	client, err := operate.Dial(t.Context(), path)
	if err != nil {
		return nil, errors.Join(err, server.Close(), store.Close())
	}
	return &remote{client, server, store}, nil
}

// serve serves store at the socket of the database path.
func serve(t testing.TB, path string, store *storage.Store) *operate.Server {
	t.Helper()
	listener := must.Get(operate.Listen(t.Context(), path))(t)
	operator := &operate.Operator{
		Info:    operate.Info{Version: operate.ReadVersion().String(), BaseURL: "http://127.0.0.1:1"},
		Store:   store,
		Creates: operate.NewCreates(),
		Problem: func() (string, error) { return "", nil },
		Logger:  slog.New(slog.DiscardHandler),
	}
	return operate.Serve(listener, operator.Handler(operate.Socket), slog.New(slog.DiscardHandler), func(err error) { t.Error(err) })
}

// Close closes all of it.
func (r *remote) Close() error {
	return errors.Join(r.Client.Close(), r.server.Close(), r.store.Close())
}
