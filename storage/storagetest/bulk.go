package storagetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/models"
	"plantstore/storage"
)

// mustCreateAll creates all the records in one call.
func mustCreateAll(t testing.TB, s Store, records []storage.Record) {
	t.Helper()
	outcomes := s.CreateAll(t.Context(), records)
	if len(outcomes) != len(records) {
		t.Fatalf("CreateAll of %d records returned %d outcomes", len(records), len(outcomes))
	}
	for i, err := range outcomes {
		if err != nil {
			t.Fatalf("CreateAll: id %d: %v", records[i].ID, err)
		}
	}
}

// testCreateAll creates more plants than an engine is likely to store in a batch, in random
// order, and reads all of them after a restart.
func testCreateAll(t *testing.T, open Open) {
	s := mustOpen(t, open)
	mustCreateAll(t, s, nil)
	want := slices.Concat([]storage.Record{{ID: math.MinInt64}}, many(10_000), []storage.Record{{ID: math.MaxInt64}})
	shuffled := slices.Clone(want)
	rand.New(rand.NewPCG(1, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	mustCreateAll(t, s, shuffled)
	mustClose(t, s)
	if diff := cmp.Diff(want, mustList(t, mustOpen(t, open), math.MinInt64)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

func testCreateAllKeepsPlants(t *testing.T, open Open) {
	s := mustOpen(t, open)
	var records []storage.Record
	for i, odd := range oddStrings() { // no plant is larger than the body of a request
		id := int64(2 * i)
		records = append(records, storage.Record{ID: id, Plant: models.Plant{Name: odd}},
			storage.Record{ID: id + 1, Plant: models.Plant{Name: "a", Tag: &odd}})
	}
	mustCreateAll(t, s, records)
	if diff := cmp.Diff(records, mustList(t, s, 0)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

// testCreateAllOutcomes creates plants with taken, duplicate and new ids in one call: the
// outcomes are independent.
func testCreateAllOutcomes(t *testing.T, open Open) {
	s := mustOpen(t, open)
	a, b := models.Plant{Name: "a"}, models.Plant{Name: "b"}
	mustCreate(t, s, storage.Record{ID: 1, Plant: a}, storage.Record{ID: 3, Plant: a})
	outcomes := s.CreateAll(t.Context(), []storage.Record{
		{ID: 4, Plant: b},
		{ID: 3, Plant: b},
		{ID: 1, Plant: a},
		{ID: 4, Plant: b},
		{ID: 2, Plant: b},
		{ID: 4, Plant: a},
	})
	if len(outcomes) != 6 || outcomes[0] != nil || outcomes[4] != nil {
		t.Fatalf("CreateAll = %v", outcomes)
	}
	wantExists(t, "of another plant", outcomes[1], false)
	wantExists(t, "of the same plant", outcomes[2], true)
	wantExists(t, "twice", outcomes[3], true)
	wantExists(t, "twice and different", outcomes[5], false)
	want := []storage.Record{{ID: 1, Plant: a}, {ID: 2, Plant: b}, {ID: 3, Plant: a}, {ID: 4, Plant: b}}
	if diff := cmp.Diff(want, mustList(t, s, math.MinInt64)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

// testDryRun compares plants with the stored ones, and each only with these.
func testDryRun(t *testing.T, open Open) {
	s := mustOpen(t, open)
	a, b := models.Plant{Name: "a"}, models.Plant{Name: "b"}
	mustCreate(t, s, storage.Record{ID: 1, Plant: a})
	outcomes := s.DryRun(t.Context(), []storage.Record{{ID: 1, Plant: a}, {ID: 2, Plant: a}, {ID: 2, Plant: b}, {ID: 1, Plant: b}})
	if len(outcomes) != 4 || outcomes[1] != nil || outcomes[2] != nil {
		t.Fatalf("DryRun = %v", outcomes)
	}
	wantExists(t, "of the same plant", outcomes[0], true)
	wantExists(t, "of another plant", outcomes[3], false)
	if n, err := s.Count(t.Context()); err != nil || n != 1 {
		t.Errorf("after DryRun, Count = %d, %v", n, err)
	}
}

// testCreateAllRacing races bulks and single creates for the same ids: of each id, one create
// succeeds.
func testCreateAllRacing(t *testing.T, open Open) {
	const ids = 1000
	s := mustOpen(t, open)
	won := make([][]int64, 5)
	var wg sync.WaitGroup
	for racer := range won {
		wg.Go(func() {
			plant := models.Plant{Name: fmt.Sprint(racer)}
			records := make([]storage.Record, ids)
			for i := range records {
				records[i] = storage.Record{ID: int64(i), Plant: plant}
			}
			outcomes := make([]error, ids)
			if racer > 0 {
				outcomes = s.CreateAll(t.Context(), records)
			} else {
				for i, r := range records {
					outcomes[i] = s.Create(t.Context(), r.ID, r.Plant)
				}
			}
			for i, err := range outcomes {
				if err == nil {
					won[racer] = append(won[racer], int64(i))
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for racer, winners := range won {
		total += len(winners)
		for _, id := range winners {
			mustGet(t, s, id, models.Plant{Name: fmt.Sprint(racer)})
		}
	}
	if total != ids {
		t.Errorf("%d creates succeeded, want one for each of %d ids", total, ids)
	}
}

// testCreateAllContextEnds ends contexts at many moments; every outcome must be correct.
func testCreateAllContextEnds(t *testing.T, open Open) {
	const bulks, size = 50, 100
	s := mustOpen(t, open)
	outcomes := make([][]error, bulks)
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*200*time.Microsecond)
			defer cancel()
			records := make([]storage.Record, size)
			for j := range records {
				records[j] = storage.Record{ID: int64(i*size + j), Plant: models.Plant{Name: fmt.Sprint(i)}}
			}
			outcomes[i] = s.CreateAll(ctx, records)
			clear(records) // the caller may change them again
		})
	}
	wg.Wait()
	mustClose(t, s)
	s = mustOpen(t, open)
	wantError(t, "a bulk whose context has ended", outcomes[0][0], storage.ErrOverloaded)
	for i, errs := range outcomes {
		for j, err := range errs {
			checkOutcome(t, s, int64(i*size+j), models.Plant{Name: fmt.Sprint(i)}, err)
		}
	}
}
