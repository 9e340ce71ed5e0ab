package watchdog

import (
	"testing"
	"testing/synctest"
	"time"
)

// sink keeps what a test allocates.
var sink []byte

// TestWatch checks that tests hang when they have only waited for 25 s, and not while they work.
func TestWatch(t *testing.T) { //nolint:paralleltest // it counts allocations
	synctest.Test(t, func(t *testing.T) {
		began, hung := time.Now(), make(chan time.Duration, 100)
		watch(func() { hung <- time.Since(began) })
		time.Sleep(time.Second)
		for range 10 {
			for range progress {
				sink = make([]byte, 100)
			}
			time.Sleep(interval)
		}
		time.Sleep(patience * interval)
		if after := <-hung; after != (10+patience)*interval {
			t.Errorf("the tests hang after %v", after)
		}
	})
}
