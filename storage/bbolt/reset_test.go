package bbolt

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/models"
	"plantstore/storage"
)

// openEphemeral opens a new store that can be reset.
func openEphemeral(t *testing.T, journal int64) *storage.Store {
	t.Helper()
	s, err := OpenFile(newPath(t), storage.Options{Ephemeral: true, JournalBytes: journal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// seedOf returns n plants, the ids from 0 on.
func seedOf(n int) (seed []storage.Record) {
	for id := range n {
		seed = append(seed, storage.Record{ID: int64(id), Plant: models.Plant{Name: fmt.Sprint("seed ", id)}})
	}
	return seed
}

// all yields records without an error.
func all(records []storage.Record) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func mustCreate(t *testing.T, s *storage.Store, id int64) {
	t.Helper()
	if err := s.Create(t.Context(), id, models.Plant{Name: "created"}); err != nil {
		t.Fatalf("Create(%d): %v", id, err)
	}
}

// wantIntact checks that the store has these plants, by each way of reading, and is intact.
func wantIntact(t *testing.T, s *storage.Store, want []storage.Record) {
	t.Helper()
	var got []storage.Record
	for r, err := range s.List(t.Context(), math.MinInt64) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plants (-want +got):\n%.2000s", diff)
	}
	if n, err := s.Count(t.Context()); err != nil || n != int64(len(want)) {
		t.Errorf("Count is %d, %v, want %d", n, err, len(want))
	}
	report, err := s.Check(t.Context(), nil)
	if err != nil || !report.Intact() || report.Plants != int64(len(want)) {
		t.Errorf("Check: %+v, %v", report, err)
	}
}

// TestReset checks that the seed, however large, replaces plants in the journal and in the tree,
// any number of times.
func TestReset(t *testing.T) {
	t.Parallel()
	for _, journal := range []int64{0, 1 << 20} {
		for _, n := range []int{0, 3, batchPlants + 1000} {
			t.Run(fmt.Sprintf("journal of %d, seed of %d", journal, n), func(t *testing.T) {
				t.Parallel()
				path := newPath(t)
				s, err := OpenFile(path, storage.Options{Ephemeral: true, JournalBytes: journal})
				if err != nil {
					t.Fatal(err)
				}
				seed := seedOf(n)
				for range 2 {
					for _, err := range s.CreateAll(t.Context(), seedOf(2*n + 9000)[n:]) { // most of them in the tree
						if err != nil {
							t.Fatal(err)
						}
					}
					mustCreate(t, s, -1)
					if err := s.Reset(t.Context(), all(seed)); err != nil {
						t.Fatal(err)
					}
					wantIntact(t, s, seed)
				}
				mustCreate(t, s, -1)
				if got := s.Stats().Resets; got != 2 {
					t.Errorf("%d resets are counted, want 2", got)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				again, err := OpenFile(path, storage.Options{ReadOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				wantIntact(t, again, append([]storage.Record{{ID: -1, Plant: models.Plant{Name: "created"}}}, seed...))
				if err := again.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestResetOfDurableStore(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newPath(t))
	mustCreate(t, s.Store, 1)
	if err := s.Reset(t.Context(), all(nil)); !errors.Is(err, storage.ErrNotEphemeral) {
		t.Errorf("Reset: %v", err)
	}
	if _, err := s.Store.Get(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

// TestResetWithoutSeed checks that an unreadable seed leaves the store unchanged, and the
// next reset works.
func TestResetWithoutSeed(t *testing.T) {
	t.Parallel()
	s := openEphemeral(t, 1<<20)
	mustCreate(t, s, 7)
	broken := errors.New("the seed cannot be read")
	err := s.Reset(t.Context(), func(yield func(storage.Record, error) bool) {
		_ = yield(seedOf(1)[0], nil) && yield(storage.Record{}, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("Reset: %v", err)
	}
	wantIntact(t, s, []storage.Record{{ID: 7, Plant: models.Plant{Name: "created"}}})
	if err := s.Reset(t.Context(), all(seedOf(2))); err != nil {
		t.Error(err)
	}
	wantIntact(t, s, seedOf(2))
}

// TestResetInterruptsList checks that a list never contains plants of both before and after a
// reset.
func TestResetInterruptsList(t *testing.T) {
	t.Parallel()
	s := openEphemeral(t, 1<<20)
	if err := s.Reset(t.Context(), all(seedOf(chunkRecords+1))); err != nil {
		t.Fatal(err)
	}
	listed := 0
	var failure error
	for _, err := range s.List(t.Context(), math.MinInt64) {
		if err != nil {
			failure = err
			break
		}
		if listed++; listed == 1 {
			if err := s.Reset(t.Context(), all(seedOf(chunkRecords+1))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if listed != chunkRecords || !errors.Is(failure, storage.ErrUnavailable) {
		t.Errorf("after %d plants: %v", listed, failure)
	}
}

// A made is a create that succeeded, or a reset, between two moments.
type made struct{ id, start, end int64 }

// TestResetRacesWithCreates races creates with resets. Plants created before the last reset
// began are gone, plants created after it ended are there, and no id is created twice
// without a reset between.
func TestResetRacesWithCreates(t *testing.T) {
	t.Parallel()
	const clients, creates, resets, ids = 8, 300, 12, 40
	s := openEphemeral(t, 128<<10)
	var clock atomic.Int64
	var mu sync.Mutex
	var history []made
	var last made // reset
	var running sync.WaitGroup
	for c := range clients {
		running.Go(func() {
			for n := range creates {
				id := int64(n%ids + 1) // contended; 0 is the seed's
				if n%2 == 0 {
					id = int64(1000*(c+1) + n) // never again
				}
				start := clock.Add(1)
				err := s.Create(t.Context(), id, models.Plant{Name: fmt.Sprint(c, n)})
				end := clock.Add(1)
				if err == nil {
					mu.Lock()
					history = append(history, made{id, start, end})
					mu.Unlock()
				} else if !errors.As(err, new(*storage.ExistsError)) {
					t.Errorf("Create(%d): %v", id, err)
				}
			}
		})
	}
	running.Go(func() {
		for range resets {
			start := clock.Add(1)
			if err := s.Reset(t.Context(), all(seedOf(1))); err != nil {
				t.Errorf("Reset: %v", err)
			}
			last = made{0, start, clock.Add(1)}
		}
	})
	running.Wait()
	after := map[int64]bool{} // created after the last reset, or perhaps
	sure := map[int64]int{}   // surely after it
	for _, m := range history {
		after[m.id] = after[m.id] || m.end > last.start
		if m.start > last.end {
			sure[m.id]++
		}
	}
	stored := map[int64]bool{}
	for r, err := range s.List(t.Context(), math.MinInt64) {
		if err != nil {
			t.Fatal(err)
		}
		stored[r.ID] = true
		if r.ID != 0 && !after[r.ID] {
			t.Errorf("id %d is there, and was created before the reset or never", r.ID)
		}
	}
	for id, times := range sure {
		if !stored[id] || times != 1 {
			t.Errorf("id %d was created %d times after the last reset, and is stored: %v", id, times, stored[id])
		}
	}
	if !stored[0] {
		t.Error("the seed is missing")
	}
	if n, err := s.Count(t.Context()); err != nil || n != int64(len(stored)) {
		t.Errorf("Count is %d, %v, and %d plants are stored", n, err, len(stored))
	}
}
