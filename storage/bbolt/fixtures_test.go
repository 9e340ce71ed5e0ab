package bbolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/storagetest"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

// newPath returns a path in a new directory.
func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "plants.db") }

// A testStore is a store with the methods of its engine.
type testStore struct {
	*storage.Store
	testEngine
}

// A testEngine hides the methods of the engine that the store has, too.
type testEngine struct{ *Engine }

// openStore opens the store at path.
func openTest(options storage.Options, path string) (*testStore, error) {
	e, err := open(context.Background(), path, options)
	if err != nil {
		return nil, err
	}
	return &testStore{storage.New(e, e.failStop, storage.Limits{}, options), testEngine{e}}, nil
}

// mustOpen opens the store at path and closes it when the test ends.
func mustOpen(t testing.TB, path string) *testStore {
	t.Helper()
	s := must.Get(openTest(storage.Options{}, path))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// createPlants creates n plants with the ids from first on, as one bulk. Their names have at least
// size bytes.
func createPlants(t testing.TB, s *testStore, first int64, n, size int) {
	t.Helper()
	records := make([]storage.Record, n)
	for i := range records {
		id := first + int64(i)
		records[i] = storage.Record{ID: id, Plant: models.Plant{Name: fmt.Sprintf("%-*d", size, id)}}
	}
	must.Do(t, errors.Join(s.CreateAll(t.Context(), records)...))
}

// newFile creates a store with n plants, the ids from 0 on, and closes it.
func newFile(t testing.TB, n int) (path string) {
	t.Helper()
	path = newPath(t)
	s := mustOpen(t, path)
	createPlants(t, s, 0, n, 0)
	must.Do(t, s.Close())
	return path
}

// edit changes the file of a closed store.
func edit(t testing.TB, path string, change func(tx *bolt.Tx) error) {
	t.Helper()
	db := must.Get(bolt.Open(path, filePerm, nil))(t)
	must.Do(t, db.Update(change))
	must.Do(t, db.Close())
}

// overwrite writes b into the file at offset.
func overwrite(t testing.TB, path string, offset int64, b []byte) {
	t.Helper()
	f := must.Get(os.OpenFile(path, os.O_WRONLY, 0))(t)
	must.Get(f.WriteAt(b, offset))(t)
	must.Do(t, f.Close())
}

// wantLine checks that err is one line that begins with the file's name and
// contains want.
func wantLine(t *testing.T, path string, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("nil, want: %s", want)
	}
	msg := err.Error()
	if !strings.HasPrefix(msg, "database "+path+" ") || !strings.Contains(msg, want) || strings.Contains(msg, "\n") {
		t.Errorf("%q, want one line about the file: %q", msg, want)
	}
}

//nolint:paralleltest // the suite checks for leaked goroutines
func TestStore(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) storagetest.Open {
		path := filepath.Join(t.TempDir(), "plants.db")
		return func() (storagetest.Store, error) { return OpenFile(path, storage.Options{}) }
	})
}
