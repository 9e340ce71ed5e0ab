package bbolt

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// TestLimitOfFile fills a file up to its limit, which 32-bit systems have: creates then fail, the store
// continues, and the file opens again.
func TestLimitOfFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path)
	s.limit, s.mapped = 1<<20, 1<<19
	stored, err := int64(0), error(nil)
	for ; err == nil && stored < 1000; stored++ {
		err = s.Create(t.Context(), stored, models.Plant{Name: strings.Repeat("x", 10_000)})
	}
	stored--
	if !errors.Is(err, storage.ErrNoSpace) || !strings.Contains(err.Error(), "the limit of a 32-bit system, 1 MiB") || s.Fault() != nil {
		t.Errorf("after %d plants: %v, want: %v", stored, err, storage.ErrNoSpace)
	}
	if size := must.Get(os.Stat(path))(t).Size(); size > s.limit || size < s.limit/4*3 {
		t.Errorf("the file has %d bytes, the limit is %d", size, s.limit)
	}
	must.Get(s.Get(t.Context(), 0))(t)
	must.Do(t, s.Close())
	wantIntact(t, path, stored)
}

// TestLackOfLargeCreate checks that after a large create that had no space, an empty batch fails until there is
// more than a small one needs: its success predicts a create.
func TestLackOfLargeCreate(t *testing.T) {
	t.Parallel()
	e := must.Get(open(t.Context(), newPath(t), storage.Options{}))(t)
	e.limit, e.mapped = 1<<20, 1<<19
	large := []storage.Item{{Record: storage.Record{ID: 1, Plant: models.Plant{Name: strings.Repeat("x", 2<<20)}}}}
	err := e.Commit(large)
	e.limit += 4 * minGrowth
	if emptyErr := e.Commit(nil); !errors.Is(err, storage.ErrNoSpace) || !errors.Is(emptyErr, storage.ErrNoSpace) {
		t.Errorf("a large create: %v, then an empty batch: %v, want: %v", err, emptyErr, storage.ErrNoSpace)
	}
	e.limit = maxFile
	must.Do(t, errors.Join(e.Commit(nil), e.Commit(large), e.Close()))
}

// TestRemapFails checks that a mapping that has no address space is an error before bbolt tries it.
func TestRemapFails(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newPath(t))
	if mapsWholeFile {
		t.Skip("bbolt maps no more than the file")
	}
	mapped := s.mapped
	if err := s.remap(math.MaxInt64 / 4); !errors.Is(err, storage.ErrNoSpace) || s.mapped != mapped {
		t.Errorf("remap: %v, want: %v", err, storage.ErrNoSpace)
	}
	must.Do(t, s.Create(t.Context(), 1, models.Plant{}))
}

// TestGrowAfterReplacement checks that a file that was replaced does not grow any more: its plants would be
// lost.
func TestGrowAfterReplacement(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path)
	must.Do(t, os.Rename(newFile(t, 1), path))
	before := s.allocated()
	if err := s.extend(1 << 20); !errors.Is(err, storage.ErrUnavailable) || s.allocated() != before {
		t.Errorf("extend: %v, want: %v", err, storage.ErrUnavailable)
	}
	if err := s.Fault(); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Fault: %v, want: %v", err, storage.ErrCorrupt)
	}
}

// TestMapSize compares sizes of mappings with those of bbolt.
func TestMapSize(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]int64{
		1: 32 << 10, 32 << 10: 32 << 10, 32<<10 + 1: 64 << 10, 1<<29 + 1: 1 << 30, 1 << 30: 1 << 30, 1<<30 + 1: 2 << 30, 3 << 30: 3 << 30,
	} {
		if got := mapSize(size); got != want {
			t.Errorf("mapSize(%d) = %d, want %d", size, got, want)
		}
	}
}
