package bbolt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// TestRace lets creates, imports, resets and Close race, and checks that each outcome is correct
// (C5.28). With TORTURE=1 in the environment it does so for an hour.
func TestRace(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for round := uint64(0); round == 0 || os.Getenv("TORTURE") == "1" && time.Since(began) < time.Hour && !t.Failed(); round++ {
		r := &race{store: mustOpen(t, newPath(t)), round: round}
		must.Do(t, r.store.Reset(t.Context(), raceSeed()))
		r.run(t)
		r.verify(t)
	}
}

const (
	racers     = 64  // goroutines
	operations = 20  // of each of them
	raceIDs    = 600 // for which they race; the seed has the negative ids
)

func raceSeed() []storage.Record {
	seed := make([]storage.Record, 100)
	for i := range seed {
		seed[i] = storage.Record{ID: int64(i - len(seed)), Plant: models.Plant{Name: "seed"}}
	}
	return seed
}

// A race is the state of a round. Each attempt creates a plant with a name of its own.
type race struct {
	store *testStore
	round uint64
	clock atomic.Int64

	mu       sync.Mutex
	attempts map[string]attempt // by the name
	resets   []attempt          // that succeeded
}

// An attempt is a create or a reset. It happened between two times of the clock.
type attempt struct {
	id         int64
	begin, end int64
	err        error
}

// run runs all racers to their end. During the first half of the operations there are resets, and
// after three quarters one of the racers closes the store.
func (r *race) run(t *testing.T) {
	t.Helper()
	r.attempts = make(map[string]attempt)
	const all = racers * operations
	var begun atomic.Int64
	var running sync.WaitGroup
	for racer := range racers {
		running.Go(func() {
			random := rand.New(rand.NewPCG(r.round, uint64(racer)))
			for i := range operations {
				name := fmt.Sprint(racer, "-", i)
				switch n := begun.Add(1); {
				case n == all*3/4:
					if err := r.store.Close(); err != nil {
						t.Errorf("Close: %v", err)
					}
				case racer < 4 && n < all/2:
					r.reset(t.Context())
				case racer < 24:
					r.create(t.Context(), random, name, 1+random.IntN(10))
				default:
					r.create(t.Context(), random, name, 0)
				}
			}
		})
	}
	running.Wait()
}

// reset resets the store to the seed.
func (r *race) reset(ctx context.Context) {
	begin := r.clock.Add(1)
	err := r.store.Reset(ctx, raceSeed())
	end := r.clock.Add(1)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resets = append(r.resets, attempt{begin: begin, end: end})
}

// create creates a plant, or imports that many. The contexts of some creates end before they do.
func (r *race) create(ctx context.Context, random *rand.Rand, name string, imported int) {
	if random.IntN(4) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(5000))*time.Microsecond)
		defer cancel()
	}
	records := make([]storage.Record, max(1, imported))
	for i := range records {
		records[i] = storage.Record{ID: random.Int64N(raceIDs), Plant: models.Plant{Name: fmt.Sprint(name, "-", i)}}
	}
	begin, outcomes := r.clock.Add(1), make([]error, 1)
	if imported > 0 {
		outcomes = r.store.CreateAll(ctx, records)
	} else {
		outcomes[0] = r.store.Create(ctx, records[0].ID, records[0].Plant)
	}
	end := r.clock.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, record := range records {
		r.attempts[record.Plant.Name] = attempt{record.ID, begin, end, outcomes[i]}
	}
}

// verify compares the outcomes with the plants in the file.
func (r *race) verify(t *testing.T) {
	t.Helper()
	s := mustOpen(t, r.store.path)
	last := attempt{} // of the resets: after begin the plants of before are gone, after end those of later are there
	for _, reset := range r.resets {
		last.begin, last.end = max(last.begin, reset.begin), max(last.end, reset.end)
	}
	stored, seeded := map[int64]string{}, 0
	for _, record := range records(t, s) {
		stored[record.ID] = record.Plant.Name
		if record.ID < 0 {
			seeded++
		} else if a, ok := r.attempts[record.Plant.Name]; !ok || a.id != record.ID || a.err != nil && !errors.Is(a.err, storage.ErrUnknown) || a.err == nil && a.end < last.begin {
			t.Errorf("plant %q of id %d is stored: %+v, last reset: %+v", record.Plant.Name, record.ID, a, last)
		}
	}
	if seeded != len(raceSeed()) {
		t.Errorf("%d plants of the seed, want %d", seeded, len(raceSeed()))
	}
	kinds := map[string]int{"resets": len(r.resets)}
	for name, a := range r.attempts {
		there, taken := stored[a.id]
		exists := errors.As(a.err, new(*storage.ExistsError))
		if a.begin > last.end && (a.err == nil && there != name || exists && !taken) {
			t.Errorf("plant %q of id %d has the outcome %v, and %q is stored", name, a.id, a.err, there)
		}
		switch {
		case a.err == nil && a.begin > last.end:
			kinds["created since the last reset"]++
		case a.err == nil:
			kinds["created"]++
		case exists:
			kinds["taken"]++
		case errors.Is(a.err, storage.ErrUnknown), errors.Is(a.err, storage.ErrOverloaded):
			kinds["canceled"]++
		case errors.Is(a.err, storage.ErrUnavailable):
			kinds["refused"]++
		default:
			t.Errorf("plant %q: %v", name, a.err)
		}
	}
	t.Log(kinds)
	if len(kinds) != 6 {
		t.Errorf("the outcomes are %v, want some of each", kinds)
	}
	must.Do(t, s.Close())
	wantIntact(t, r.store.path, int64(len(stored)))
}
