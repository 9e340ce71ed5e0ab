package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// oddStrings are kept byte for byte (C2.14).
func oddStrings() []string {
	return []string{
		"",
		" \t\r\n ",
		"\x00",
		"a\x00b",
		"\u2028\u2029",
		"\ufeff\ufffd",
		"🌵👩‍🌾",
		"e\u0301 \u00e9",
		`"\/<>&'` + "\x7f",
		"\U0010ffff",
		strings.Repeat("x", 1<<20),
		strings.Repeat("\x01", 1<<18),
	}
}

func testCreateKeepsPlant(t *testing.T, open Open) {
	var records []storage.Record
	for _, odd := range oddStrings() {
		for _, plant := range []models.Plant{{Name: odd}, {Name: "a", Tag: &odd}, {Name: odd, Tag: new(string)}} {
			records = append(records, storage.Record{ID: int64(len(records)), Plant: plant})
		}
	}
	s := mustOpen(t, open)
	mustCreate(t, s, records...)
	for _, r := range records {
		mustGet(t, s, r.ID, r.Plant)
	}
}

func testCreateOnlyOnce(t *testing.T, open Open) {
	empty, tag := "", "succulent"
	plants := []models.Plant{
		{Name: "a"},
		{Name: "a", Tag: &empty},
		{Name: "a", Tag: &tag},
		{Name: "A"},
		{Name: "a\u0301"},
		{Name: "\u00e1"},
	}
	s := mustOpen(t, open)
	for i, stored := range plants {
		id := int64(i)
		mustCreate(t, s, storage.Record{ID: id, Plant: stored})
		for j, plant := range plants {
			what := fmt.Sprintf("Create of plant %d over plant %d", j, i)
			wantExists(t, what, s.Create(t.Context(), id, plant), i == j)
		}
		mustGet(t, s, id, stored)
	}
}

// racers is the number of concurrent creates of each id.
const racers = 64

func testCreateRacing(t *testing.T, open Open) {
	s := mustOpen(t, open)
	ids := []int64{math.MinInt64, -1, 0, 1, math.MaxInt64}
	// Half of the racers for an id send the same plant, the others different
	// ones.
	plant := func(racer int) models.Plant { return models.Plant{Name: fmt.Sprint(max(racer, racers/2))} }

	outcomes := make([][racers]error, len(ids))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for racer := range racers {
		for i, id := range ids {
			wg.Go(func() {
				<-start
				outcomes[i][racer] = s.Create(t.Context(), id, plant(racer))
			})
		}
	}
	close(start)
	wg.Wait()
	for i, id := range ids {
		checkRace(t, s, id, outcomes[i][:], plant)
	}
}

// checkRace checks that one create of id succeeded, and that the others returned the correct
// ExistsError.
func checkRace(t *testing.T, s Store, id int64, outcomes []error, plant func(racer int) models.Plant) {
	t.Helper()
	winner := -1
	for racer, err := range outcomes {
		if err != nil {
			continue
		}
		if winner >= 0 {
			t.Errorf("id %d: racers %d and %d both succeeded", id, winner, racer)
		}
		winner = racer
	}
	if winner < 0 {
		t.Fatalf("id %d: no racer succeeded: %v", id, outcomes[0])
	}
	mustGet(t, s, id, plant(winner))
	for racer, err := range outcomes {
		if racer != winner {
			wantExists(t, fmt.Sprintf("id %d, racer %d", id, racer), err, plant(racer).Equal(plant(winner)))
		}
	}
}

func testCreateContextEnded(t *testing.T, open Open) {
	s := mustOpen(t, open)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Create(ctx, 1, models.Plant{Name: "a"})
	wantError(t, "Create", err, storage.ErrOverloaded)
	wantError(t, "Create", err, context.Canceled)
	_, err = s.Get(t.Context(), 1)
	wantError(t, "Get", err, storage.ErrNotFound)
}

// testCreateContextEndsUnderWay ends contexts at all stages of a create, and checks that every
// outcome is correct.
func testCreateContextEndsUnderWay(t *testing.T, open Open) {
	const creates = 400
	s := mustOpen(t, open)
	outcomes := make([]error, creates)
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*20*time.Microsecond)
			defer cancel()
			outcomes[i] = s.Create(ctx, int64(i), models.Plant{Name: fmt.Sprint(i)})
		})
	}
	wg.Wait()
	mustClose(t, s)
	s = mustOpen(t, open)
	for i, err := range outcomes {
		checkOutcome(t, s, int64(i), models.Plant{Name: fmt.Sprint(i)}, err)
	}
}

// checkOutcome checks that the outcome of the only create of id was correct (C5.28).
func checkOutcome(t *testing.T, s Store, id int64, plant models.Plant, outcome error) {
	t.Helper()
	switch {
	case outcome == nil:
		mustGet(t, s, id, plant)
	case errors.Is(outcome, storage.ErrUnknown):
		if got, err := s.Get(t.Context(), id); err == nil && !got.Equal(plant) {
			t.Errorf("Get(%d) = %v, want %v or nothing", id, got, plant)
		}
	default:
		if _, err := s.Get(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Get(%d): %v, want %v: Create returned %q", id, err, storage.ErrNotFound, outcome)
		}
	}
}

// testInvalidUTF8 allows an engine to reject such strings, but not to change them.
func testInvalidUTF8(t *testing.T, open Open) {
	s := mustOpen(t, open)
	bad := "a\xffb\xed\xa0\x80"
	for i, plant := range []models.Plant{{Name: bad}, {Name: "a", Tag: &bad}} {
		checkOutcome(t, s, int64(i), plant, s.Create(t.Context(), int64(i), plant))
	}
	mustCreate(t, s, storage.Record{ID: 2, Plant: models.Plant{Name: "a"}})
}
