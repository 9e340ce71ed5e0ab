package control_test

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"path/filepath"
	"testing"

	"plantstore/internal/control"
	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/storage"
	"plantstore/storage/bbolt"
	"plantstore/storage/storagetest"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

// TestSuite runs the suite of the engines through a socket. Package bbolt runs more random operations
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

// A remote is the store of a client, with its server.
type remote struct {
	*storage.Store

	server *control.Server
	store  *storage.Store // of the server
}

// openRemote opens the database, serves it and connects to it.
func openRemote(t testing.TB, path string) (*remote, error) {
	t.Helper()
	store, err := bbolt.OpenFile(path, storage.Options{})
	if err != nil {
		return nil, err
	}
	server := serve(t, path, store, maxBytes)
	client, err := control.Dial(context.WithoutCancel(t.Context()), path) // it is closed after the test's context has ended
	if err != nil {
		return nil, errors.Join(err, server.Close(), store.Close())
	}
	return &remote{storage.New(client, nil, storage.Limits{}, storage.Options{}), server, store}, nil
}

// maxBytes is the limit of a plant in the tests.
const maxBytes = 64 << 20

// serve serves store at the socket of the database path, with a limit of each plant.
func serve(t testing.TB, path string, store *storage.Store, limit int64) *control.Server {
	t.Helper()
	listener := must.Get(control.Listen(t.Context(), path))(t)
	return control.Start(listener, store, control.Options{
		Info:         control.Info{BaseURL: "http://127.0.0.1:1"},
		MaxBodyBytes: limit,
		Logger:       slog.New(slog.DiscardHandler),
	})
}

// Close closes all of it.
func (r *remote) Close() error {
	return errors.Join(r.Store.Close(), r.server.Close(), r.store.Close())
}
