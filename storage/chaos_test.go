package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// A flakyDisk fails commits in all possible ways, with correct errors.
type flakyDisk struct {
	storage.Engine // nil: the test does not read

	t      *testing.T
	random *rand.Rand
	plants map[int64]models.Plant
}

// newRandom returns the same numbers in each run.
func newRandom(seed int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), 0))
}

var errFlaky = errors.New("nothing was written")

// Close implements [storage.Engine].
func (d *flakyDisk) Close() error { return nil }

// Commit implements [storage.Engine].
func (d *flakyDisk) Commit(batch []storage.Item) error {
	fate := d.random.IntN(10)
	for i, item := range batch {
		if i > 0 && batch[i-1].ID >= item.ID {
			d.t.Errorf("id %d comes after %d", item.ID, batch[i-1].ID)
		}
		if plant, taken := d.plants[item.ID]; taken {
			batch[i].Existing = &plant
		} else if fate > 1 || fate == 1 && i%2 == 0 {
			d.plants[item.ID] = item.Plant
		}
	}
	switch fate {
	case 0:
		return errFlaky
	case 1, 2:
		return fmt.Errorf("%w: the disk failed half-way", storage.ErrUnknown)
	}
	return nil
}

// TestEveryOutcomeIsTrue lets many clients race for few ids, over a disk that
// fails, with contexts that end at any time.
func TestEveryOutcomeIsTrue(t *testing.T) {
	t.Parallel()
	const clients, creates, ids = 32, 300, 1500
	d := &flakyDisk{t: t, random: newRandom(0), plants: map[int64]models.Plant{}}
	s := storage.New(d, nil, storage.Limits{BatchPlants: 5}, storage.Options{})
	s.LimitQueue(clients/2, math.MaxInt)

	type outcome struct {
		id    int64
		plant models.Plant
		err   error
	}
	var mu sync.Mutex
	var outcomes []outcome
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			random := newRandom(1 + c)
			for i := range creates {
				patience := time.Hour
				if i%3 > 0 {
					patience = time.Duration(random.IntN(300)) * time.Microsecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				o := outcome{id: random.Int64N(ids), plant: models.Plant{Name: fmt.Sprint(c, i)}}
				o.err = s.Create(ctx, o.id, o.plant)
				cancel()
				mu.Lock()
				outcomes = append(outcomes, o)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	_ = s.Close()

	seen := map[string]int{}
	for _, o := range outcomes {
		claim := "not stored"
		switch {
		case o.err == nil:
			claim = "created"
		case errors.Is(o.err, storage.ErrUnknown):
			claim = "unknown"
		}
		seen[claim]++
		if stored := d.plants[o.id].Equal(o.plant); claim == "created" && !stored || claim == "not stored" && stored {
			t.Errorf("id %d: %v, in the store: %v", o.id, o.err, stored)
		}
	}
	if len(seen) != 3 {
		t.Errorf("the outcomes are %v, want some of each", seen)
	}
}
