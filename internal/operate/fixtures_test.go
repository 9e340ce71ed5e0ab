package operate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/must"
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
	*Client

	server *Server
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
	client, err := Dial(t.Context(), path)
	if err != nil {
		return nil, errors.Join(err, server.Close(), store.Close())
	}
	return &remote{client, server, store}, nil
}

// serve serves store at the socket of the database path.
func serve(t testing.TB, path string, store *storage.Store) *Server {
	t.Helper()
	listener := must.Get(Listen(t.Context(), path))(t)
	operator := &Operator{
		Info:    Info{Version: ReadVersion().String(), BaseURL: "http://127.0.0.1:1"},
		Store:   store,
		Creates: NewCreates(),
		Problem: func() (string, error) { return "", nil },
		Logger:  slog.New(slog.DiscardHandler),
	}
	return Serve(listener, operator.Handler(Socket), slog.New(slog.DiscardHandler), func(err error) { t.Error(err) })
}

// Close closes all of it.
func (r *remote) Close() error {
	return errors.Join(r.Client.Close(), r.server.Close(), r.store.Close())
}

// A fakeStore has plants in memory.
type fakeStore struct {
	storage.FileEngine // nil but for List and Count

	ids     []int64          // ascending
	names   map[int64]string // x unless set
	corrupt []int64          // ids of corrupt records
	unnamed bool             // errors about corrupt records don't have their ids
	err     error            // of List and Count
	slow    time.Duration    // for each record
	hangs   bool             // until the context ends

	reads int // records that were read
}

func (f *fakeStore) List(ctx context.Context, from int64, descending bool) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		if f.hangs {
			<-ctx.Done()
			yield(storage.Record{}, ctx.Err())
			return
		}
		if f.err != nil {
			yield(storage.Record{}, f.err)
			return
		}
		start, found := slices.BinarySearch(f.ids, from)
		ids := f.ids[start:]
		if descending {
			if found {
				start++
			}
			ids = slices.Clone(f.ids[:start])
			slices.Reverse(ids)
		}
		for _, id := range ids {
			record, err := f.record(id)
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

func (f *fakeStore) record(id int64) (storage.Record, error) {
	f.reads++
	time.Sleep(f.slow)
	if slices.Contains(f.corrupt, id) {
		err := fmt.Errorf("%w: wrong checksum", storage.ErrCorrupt)
		if !f.unnamed {
			err = &storage.CorruptError{ID: id, Err: err}
		}
		return storage.Record{}, err
	}
	name, named := f.names[id]
	if !named {
		name = "x"
	}
	return storage.Record{ID: id, Plant: models.Plant{Name: name}}, nil
}

func (f *fakeStore) Count(ctx context.Context) (int64, error) {
	if f.hangs {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return int64(len(f.ids)), f.err
}

// store returns the store that has f as its engine.
func (f *fakeStore) store() *storage.Store {
	return storage.New(f, nil, storage.Limits{}, storage.Options{ReadOnly: true})
}

// site returns a site of the store, which is not served.
func (f *fakeStore) site() *Site {
	return &Site{key: "key", open: func(context.Context) (Backend, func() error, error) {
		return &Operator{Store: f.store(), Info: Info{Place: "here"}}, func() error { return nil }, nil
	}}
}

// idsOf returns the ids of plants, separated by blanks.
func idsOf(plants []plant) string {
	var ids []int64
	for _, p := range plants {
		ids = append(ids, p.ID)
	}
	return join(ids)
}

// join returns ids, separated by blanks.
func join(ids []int64) string { return strings.Trim(fmt.Sprint(ids), "[]") }

// sequence returns n ids from first on.
func sequence(first int64, n int) (ids []int64) {
	for i := range n {
		ids = append(ids, first+int64(i))
	}
	return ids
}
