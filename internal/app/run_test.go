package app

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"plantstore/internal/config"
	"plantstore/internal/must"
	"plantstore/internal/operate"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// newEphemeral returns an app without listeners whose store was seeded with the ids from 0 to
// n-1. It logs to log.
func newEphemeral(t *testing.T, n int, log *bytes.Buffer) *App {
	t.Helper()
	c := must.Get(config.Load(config.Sources{Engines: storage.Engines{"bbolt": bbolt.Open}, Flags: map[string]string{"STORAGE_URL": "bbolt:" + filepath.Join(t.TempDir(), "plants.db")}}))(t)
	a := &App{config: c, inputs: Inputs{Ephemeral: c.Storage}, storage: c.Storage, observer: operate.NewObserver(), creates: operate.NewCreates(), logger: slog.New(slog.NewTextHandler(log, nil))}
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

// TestReset checks that lists during resets see the whole seed.
func TestReset(t *testing.T) {
	t.Parallel()
	const seeded, resets = 3000, 10 // a list reads in parts
	a := newEphemeral(t, seeded, new(bytes.Buffer))
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			n := 0
			for _, err := range a.store.List(t.Context(), math.MinInt64) {
				if n++; err != nil {
					t.Error(err)
				}
			}
			if n != seeded {
				t.Errorf("a list has %d plants, want %d", n, seeded)
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

// TestTuneRuntime checks that GOGC overrides the tuning.
func TestTuneRuntime(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for gogc, want := range map[string]int{"100": 100, "": heapGrowth} {
		tuneRuntime(map[string]string{"GOGC": gogc})
		if got := debug.SetGCPercent(100); got != want {
			t.Errorf("GOGC=%s: the percentage is %d, want %d", gogc, got, want)
		}
	}
}
