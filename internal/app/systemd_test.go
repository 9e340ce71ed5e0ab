package app

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/storage"
)

// A patient is a store with a settable state.
type patient struct {
	state atomic.Pointer[error]
}

func (p *patient) Ready() error { return *p.state.Load() }

// TestWatchdog checks that the watchdog is notified unless a commit hangs.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const interval = time.Second
		var alive atomic.Int64
		var well error
		away, stuck := storage.ErrUnavailable, fmt.Errorf("%w: %w", storage.ErrUnavailable, storage.ErrCommitHangs)
		store := new(patient)
		store.state.Store(&well)
		ctx, cancel := context.WithCancel(t.Context())
		go watchdog(ctx, interval, store.Ready, func() { alive.Add(1) })
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

// TestSupervisorIsNotified checks that systemd is notified twice in each interval of its watchdog,
// as sd_watchdog_enabled(3) recommends. Without a watchdog it is notified of the start and the
// shutdown.
func TestSupervisorIsNotified(t *testing.T) {
	t.Parallel()
	const alive = "WATCHDOG=1"
	for interval, signs := range map[time.Duration][]string{0: nil, 30 * time.Second: {alive, alive, alive, alive}} {
		synctest.Test(t, func(t *testing.T) {
			heard := make(chan string, 100)
			var well error
			store := new(patient)
			store.state.Store(&well)
			ctx, cancel := context.WithCancel(t.Context())
			supervise(ctx, ctx, interval, store.Ready, func(state string) { heard <- state })
			time.Sleep(59 * time.Second)
			cancel()
			synctest.Wait()
			close(heard)
			var got []string
			for state := range heard {
				got = append(got, state)
			}
			if want := slices.Concat([]string{"READY=1"}, signs, []string{"STOPPING=1"}); !slices.Equal(got, want) {
				t.Errorf("interval %v: it hears %q, want %q", interval, got, want)
			}
		})
	}
}
