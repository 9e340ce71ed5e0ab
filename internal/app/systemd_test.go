package app

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestSupervisorIsNotified checks that systemd is notified twice in each interval of its watchdog,
// as sd_watchdog_enabled(3) recommends. Without a watchdog it is notified of the start and the
// shutdown.
func TestSupervisorIsNotified(t *testing.T) {
	t.Parallel()
	const alive = "WATCHDOG=1"
	for interval, signs := range map[time.Duration][]string{0: nil, 30 * time.Second: {alive, alive, alive, alive}} {
		synctest.Test(t, func(t *testing.T) {
			heard := make(chan string, 100)
			ctx, cancel := context.WithCancel(t.Context())
			supervise(ctx, ctx, interval, func(state string) { heard <- state })
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
