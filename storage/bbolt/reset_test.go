package bbolt

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// records returns the plants of a store.
func records(t *testing.T, s *testStore) (records []storage.Record) {
	t.Helper()
	for record, err := range s.List(t.Context(), math.MinInt64) {
		must.Do(t, err)
		records = append(records, record)
	}
	return records
}

// TestReset checks that a reset replaces all plants and their number in one transaction, also to
// none and in a file that must grow, and that creates work after it.
func TestReset(t *testing.T) {
	t.Parallel()
	path := newFile(t, 1)
	s := mustOpen(t, path)
	must.Do(t, s.limitSize()) // without free pages at its end
	size := s.db.MaxSize
	seed := slices.Repeat([]storage.Record{{Plant: models.Plant{Name: "fern"}}}, 1000)
	for i := range seed {
		seed[i].ID = int64(2*i - 500)
	}
	for _, want := range [][]storage.Record{seed, nil, seed[:1], seed} {
		before := lastTxid(t, s)
		must.Do(t, s.Reset(t.Context(), want))
		if after := lastTxid(t, s); after != before+1 {
			t.Errorf("the reset took %d transactions, want 1", after-before)
		}
		if diff := cmp.Diff(want, records(t, s)); diff != "" {
			t.Errorf("List (-want +got):\n%s", diff)
		}
		must.Do(t, s.Create(t.Context(), 1, models.Plant{Name: "moss"}))
		if n, err := s.Count(t.Context()); n != int64(len(want)+1) || err != nil {
			t.Errorf("Count = %d, %v, want %d", n, err, len(want)+1)
		}
	}
	if s.db.MaxSize == size {
		t.Error("the file did not have to grow")
	}
	must.Do(t, s.Close())
	wantIntact(t, path, int64(len(seed)+1))
}

// TestResetReusesPages checks that repeated resets do not let the file grow.
func TestResetReusesPages(t *testing.T) {
	t.Parallel()
	path := newBigFile(t)
	s := mustOpen(t, path)
	seed := records(t, s)
	var sizes []int64
	for range 8 {
		must.Do(t, s.Reset(t.Context(), seed))
		sizes = append(sizes, must.Get(os.Stat(path))(t).Size())
	}
	if last := sizes[len(sizes)-1]; last != sizes[3] {
		t.Errorf("the file grows with each reset: %d", sizes)
	}
}

// TestResetRefuses checks that a reset changes nothing if a plant cannot be stored, and that the
// store continues.
func TestResetRefuses(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newFile(t, 3))
	bad := storage.Record{ID: 2, Plant: models.Plant{Name: "\xff"}}
	for _, seed := range [][]storage.Record{{bad}, {{ID: 1}, bad}} {
		if err := s.Reset(t.Context(), seed); err == nil {
			t.Errorf("a reset to %d plants, one of them invalid, succeeded", len(seed))
		}
	}
	if n := len(records(t, s)); n != 3 || s.Ready() != nil {
		t.Errorf("%d plants after it, want 3; ready: %v", n, s.Ready())
	}
}
