// Package watchdog runs the tests of a package, and ends them when they hang.
package watchdog

import (
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const (
	// interval is the time between two looks.
	interval = 5 * time.Second
	// patience is the number of intervals without progress after which the tests hang.
	patience = 5
	// progress is the number of allocations in an interval that tests make at least, however slow the
	// machine is, unless all of them wait.
	progress = 500
)

// Main runs the tests like [goleak.VerifyTestMain]. When they have hardly allocated memory for 25 s, it
// ends them with the stacks of all goroutines: each of them waits, or is in an endless loop. A failure
// that rapid has found is shrunk for 5 s.
func Main(m *testing.M) {
	if shrink := flag.Lookup("rapid.shrinktime"); shrink != nil {
		_ = shrink.Value.Set("5s") // a valid value
	}
	watch(func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("the tests hang: for %v they have only waited", patience*interval))
	})
	goleak.VerifyTestMain(m)
}

// watch calls hang when there was no progress.
func watch(hang func()) { look(hang, 0, allocations()) }

// look looks again after an interval. There was no progress for idle intervals so far.
func look(hang func(), idle int, last uint64) {
	time.AfterFunc(interval, func() {
		now := allocations()
		if idle++; now-last >= progress {
			idle = 0
		}
		if idle >= patience {
			hang()
		}
		look(hang, idle, now)
	})
}

// allocations returns the number of allocations so far.
func allocations() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Mallocs
}
