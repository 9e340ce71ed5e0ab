package browse

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

// A fakeStore has plants in memory. Those with negative sizes are corrupt.
type fakeStore struct {
	ids   []int64       // ascending
	sizes map[int64]int // of names; 1 unless set
	names map[int64]string
	err   error // of each method

	unnamed bool // errors about corrupt records don't have their ids

	long         string // the longest name
	lists, reads int    // calls of List, and records that were read
}

func (f *fakeStore) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	f.lists++
	if f.long == "" {
		f.long = strings.Repeat("x", max(1, slices.Max(append(slices.Collect(maps.Values(f.sizes)), 1))))
	}
	return func(yield func(storage.Record, error) bool) {
		if f.err != nil {
			yield(storage.Record{}, f.err)
			return
		}
		start, _ := slices.BinarySearch(f.ids, from)
		for _, id := range f.ids[start:] {
			if ctx.Err() != nil {
				yield(storage.Record{}, ctx.Err())
				return
			}
			if f.sizes[id] < 0 {
				err := fmt.Errorf("%w: wrong checksum", storage.ErrCorrupt)
				if !f.unnamed {
					err = &storage.CorruptError{ID: id, Err: err}
				}
				yield(storage.Record{}, err)
				return
			}
			f.reads++
			name, named := f.names[id]
			if !named {
				name = f.long[:max(1, f.sizes[id])]
			}
			if !yield(storage.Record{ID: id, Plant: models.Plant{Name: name}}, nil) {
				return
			}
		}
	}
}

func (f *fakeStore) Count(context.Context) (int64, error) { return int64(len(f.ids)), f.err }

func (f *fakeStore) Close() error { return nil }

// site returns a site of the store, which is not served.
func (f *fakeStore) site(t testing.TB) *Site {
	t.Helper()
	s := &Site{key: "key", options: f.options()}
	s.status = &sampler{ctx: t.Context(), count: s.count}
	return s
}

// idsOf returns the ids of plants as the page gets them.
func idsOf(plants []plant) (ids []string) {
	for _, p := range plants {
		ids = append(ids, p.ID)
	}
	return ids
}

// sequence returns n ids from first on.
func sequence(first int64, n int) (ids []int64) {
	for i := range n {
		ids = append(ids, first+int64(i))
	}
	return ids
}

// options returns options that open the store.
func (f *fakeStore) options() Options {
	return Options{Place: "here", Open: func(context.Context) (Store, Source, error) { return f, File, nil }}
}

// A brokenStore fails when it is closed.
type brokenStore struct {
	fakeStore

	cause error
}

func (b *brokenStore) Close() error { return b.cause }

// failingClose opens stores that fail when they are closed.
func failingClose(cause error) func(context.Context) (Store, Source, error) {
	return func(context.Context) (Store, Source, error) { return &brokenStore{cause: cause}, File, nil }
}
