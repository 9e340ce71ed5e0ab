package app

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"plantstore/internal/config"
	"plantstore/internal/must"
	"plantstore/internal/operate"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// newEphemeral returns an app without listeners whose store was seeded with the ids from 0 to
// n-1. It logs to log.
func newEphemeral(t *testing.T, n int, log *bytes.Buffer) *App {
	t.Helper()
	c := must.Get(config.Load(config.Sources{Engines: storage.Engines{"bbolt": bbolt.Open}, Flags: map[string]string{"STORAGE_URL": "bbolt:" + filepath.Join(t.TempDir(), "plants.db")}}))(t)
	a := &App{config: c, inputs: Inputs{Ephemeral: c.Storage}, storage: c.Storage, observer: operate.NewObserver(), creates: new(operate.Creates), logger: slog.New(slog.NewTextHandler(log, nil))}
	must.Do(t, a.openStore(t.Context()))
	t.Cleanup(func() { _ = a.Close() })
	records := make([]storage.Record, n)
	for id := range records {
		records[id].ID = int64(id)
	}
	must.Do(t, errors.Join(a.store.CreateAll(t.Context(), records)...))
	must.Do(t, a.keepSeed(t.Context()))
	return a
}

// countUntil returns the number of ids in a list of the store that are less than end.
func countUntil(t *testing.T, store *storage.Store, end int64) (n int64, err error) {
	t.Helper()
	for record, err := range store.List(t.Context(), math.MinInt64) {
		if err != nil {
			return n, err
		}
		if record.ID < end {
			n++
		}
	}
	return n, nil
}

// TestReset checks that lists and creates during resets see the whole seed. At the end only the
// seed is there.
func TestReset(t *testing.T) {
	t.Parallel()
	const seeded, resets = 3000, 10 // a list reads in parts
	a := newEphemeral(t, seeded, new(bytes.Buffer))
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for id := int64(0); ; id++ {
			select {
			case <-done:
				return
			default:
			}
			if n, err := countUntil(t, a.store, seeded); n != seeded || err != nil {
				t.Errorf("a list has %d plants of the seed, %v, want %d", n, err, seeded)
			}
			if err := a.store.Create(t.Context(), seeded+id, models.Plant{}); err != nil {
				t.Errorf("Create = %v", err)
			}
			if err := a.store.Create(t.Context(), id%seeded, models.Plant{}); !errors.As(err, new(*storage.ExistsError)) {
				t.Errorf("Create of a seeded id = %v", err)
			}
		}
	})
	for range resets {
		if plants, err := a.reset(t.Context()); plants != seeded || err != nil {
			t.Errorf("reset = %d, %v", plants, err)
		}
	}
	close(done)
	running.Wait()
	if plants, err := a.reset(t.Context()); plants != seeded || err != nil {
		t.Errorf("reset = %d, %v", plants, err)
	}
	if n, err := a.store.Count(t.Context()); n != seeded || err != nil {
		t.Errorf("Count = %d, %v, want %d", n, err, seeded)
	}
	if n, err := countUntil(t, a.store, math.MaxInt64); n != seeded || err != nil {
		t.Errorf("List has %d plants, %v, want %d", n, err, seeded)
	}
}

// TestFailedReset checks that a reset that fails is logged.
func TestFailedReset(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	a := newEphemeral(t, 1, &log)
	must.Do(t, a.store.Close())
	if _, err := a.reset(t.Context()); !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(log.String(), `msg="reset failed"`) {
		t.Errorf("reset: %v, logged %q", err, log.String())
	}
}
