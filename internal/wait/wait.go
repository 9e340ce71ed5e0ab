// Package wait waits for time to pass, or a context to be done.
package wait

import (
	"context"
	"time"
)

// Every calls f at each interval until ctx is done, first after one interval. Calls
// never overlap: a tick during a slow call is dropped or comes right after it.
func Every(ctx context.Context, interval time.Duration, f func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f()
		}
	}
}

// Sleep pauses for d. It returns false if ctx was done first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
