package cli

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/storage"
)

// A patient is a store that says how it is.
type patient struct {
	storage.Store

	state atomic.Pointer[error]
}

func (p *patient) Ready() error { return *p.state.Load() }

// The watchdog is fed while the store can do its work, and not while it hangs.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const interval = time.Second
		var alive atomic.Int64
		var well error
		away, stuck := storage.ErrUnavailable, fmt.Errorf("%w: %w", storage.ErrUnavailable, storage.ErrStuck)
		store := new(patient)
		store.state.Store(&well)
		ctx, cancel := context.WithCancel(t.Context())
		go watchdog(ctx, interval, store, func() { alive.Add(1) })
		synctest.Wait()
		for _, phase := range []struct {
			state *error
			want  int64
		}{{&well, 10}, {&stuck, 0}, {&away, 10}, {&stuck, 0}, {&well, 10}} {
			store.state.Store(phase.state)
			alive.Store(0)
			time.Sleep(10*interval + interval/2)
			if got := alive.Load(); got != phase.want {
				t.Errorf("%v: %d signs of life in 10 intervals, want %d", *phase.state, got, phase.want)
			}
			time.Sleep(interval / 2) // to the same place between two ticks
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
	})
}
