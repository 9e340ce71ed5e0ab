package browse

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// A fakeStore has plants in memory.
type fakeStore struct {
	storage.Engine // nil but for List and Count

	ids      []int64          // ascending
	names    map[int64]string // x unless set
	corrupt  []int64          // ids of corrupt records
	unnamed  bool             // errors about corrupt records don't have their ids
	err      error            // of List and Count
	closeErr error
	slow     time.Duration // for each record

	lists, reads int // calls of List, and records that were read
}

func (f *fakeStore) List(ctx context.Context, from int64, _ bool) iter.Seq2[storage.Record, error] {
	f.lists++
	return func(yield func(storage.Record, error) bool) {
		if f.err != nil {
			yield(storage.Record{}, f.err)
			return
		}
		start, _ := slices.BinarySearch(f.ids, from)
		for _, id := range f.ids[start:] {
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

func (f *fakeStore) Count(context.Context) (int64, error) { return int64(len(f.ids)), f.err }

func (f *fakeStore) Close() error { return f.closeErr }

// store returns the store that has f as its engine.
func (f *fakeStore) store() *storage.Store {
	return storage.New(f, nil, storage.Limits{}, storage.Options{ReadOnly: true})
}

// site returns a site of the store, which is not served.
func (f *fakeStore) site(t testing.TB) *Site {
	t.Helper()
	return &Site{key: "key", open: func(context.Context) (Store, string, func() error, error) {
		return f.store(), "here", f.Close, nil
	}}
}

// idsOf returns the ids of plants, separated by blanks.
func idsOf(plants []plant) string {
	var ids []string
	for _, p := range plants {
		ids = append(ids, p.ID)
	}
	return strings.Join(ids, " ")
}

// sequence returns n ids from first on.
func sequence(first int64, n int) (ids []int64) {
	for i := range n {
		ids = append(ids, first+int64(i))
	}
	return ids
}
