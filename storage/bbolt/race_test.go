package bbolt

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// TestRace lets creates and imports race with resets, and checks that each of them happened completely
// before or after the last reset (C5.28); storagetest lets them race with each other, with the end of
// their contexts, and with Close. With TORTURE=1 in the environment it does so for an hour.
func TestRace(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for round := 0; round == 0 || os.Getenv("TORTURE") == "1" && time.Since(began) < time.Hour && !t.Failed(); round++ {
		race(t)
	}
}

// An attempt is a create or a reset. It happened between two times of a clock.
type attempt struct {
	begin, end int64
	err        error
}

func race(t *testing.T) {
	t.Helper()
	const racers, operations = 64, 20
	path := newPath(t)
	s := mustOpen(t, path)
	var clock atomic.Int64
	try := func(do func() error) (a attempt) {
		a.begin = clock.Add(1)
		a.err = do()
		a.end = clock.Add(1)
		return a
	}
	var creates [racers * operations]attempt
	var last attempt // reset
	seed := make([]storage.Record, 100)
	for i := range seed {
		seed[i] = storage.Record{ID: int64(i - len(seed)), Plant: models.Plant{Name: "seed"}}
	}
	var running sync.WaitGroup
	for racer := range racers {
		running.Go(func() {
			for i := range operations {
				id := racer*operations + i
				plant := models.Plant{Name: "moss"}
				creates[id] = try(func() error {
					if racer%3 == 0 {
						return errors.Join(s.CreateAll(t.Context(), []storage.Record{{ID: int64(id), Plant: plant}})...)
					}
					return s.Create(t.Context(), int64(id), plant)
				})
				if racer == 0 && i < operations/2 {
					last = try(func() error { return s.Reset(t.Context(), seed) })
				}
			}
		})
	}
	running.Wait()
	stored := map[int64]bool{}
	for _, record := range records(t, s) {
		stored[record.ID] = true
	}
	for _, record := range seed {
		if !stored[record.ID] {
			t.Errorf("the last reset has not stored %d: %v", record.ID, last.err)
		}
	}
	for id, a := range creates {
		if there := stored[int64(id)]; a.err != nil || there && a.end < last.begin || !there && a.begin > last.end {
			t.Errorf("plant %d is stored: %t, %+v, last reset: %+v", id, there, a, last)
		}
	}
	must.Do(t, s.Close())
	wantIntact(t, path, int64(len(stored)))
}
