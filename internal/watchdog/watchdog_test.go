package watchdog

import (
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// sink keeps what a test allocates.
var sink []byte

// TestWatch checks that tests hang when they have only waited for 25 s, and not while they work or, on
// Linux, read and write.
func TestWatch(t *testing.T) { //nolint:paralleltest // it counts allocations
	allocate := func() { sink = make([]byte, 100) }
	zero, err := os.Open("/dev/zero")
	read := allocate
	if err == nil && runtime.GOOS == "linux" {
		defer func() { _ = zero.Close() }()
		buffer := make([]byte, 1)
		read = func() { _, _ = zero.Read(buffer) }
	}
	synctest.Test(t, func(t *testing.T) {
		began, hung := time.Now(), make(chan time.Duration, 100)
		watch(func() { hung <- time.Since(began) })
		time.Sleep(time.Second)
		for _, work := range []func(){allocate, read} {
			for range 10 {
				for range least {
					work()
				}
				time.Sleep(interval)
			}
		}
		time.Sleep(patience * interval)
		if after := <-hung; after != (20+patience)*interval {
			t.Errorf("the tests hang after %v", after)
		}
	})
}
