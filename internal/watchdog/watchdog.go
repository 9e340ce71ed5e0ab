// Package watchdog runs the tests of a package, and ends them when they hang.
package watchdog

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const (
	// interval is the time between two looks.
	interval = 5 * time.Second
	// patience is the number of intervals without progress after which the tests hang.
	patience = 5
	// least is the number of steps in an interval that tests make at least, however slow the machine is,
	// unless all of them wait.
	least = 500
)

// Main runs the tests like [goleak.VerifyTestMain]. When they have made hardly any steps for 25 s, it
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
func watch(hang func()) { look(hang, 0, steps()) }

// look looks again after an interval. There was no progress for idle intervals so far.
func look(hang func(), idle int, last uint64) {
	time.AfterFunc(interval, func() {
		now := steps()
		if idle++; now-last >= least {
			idle = 0
		}
		if idle >= patience {
			hang()
		}
		look(hang, idle, now)
	})
}

// steps returns the number of allocations so far, and on Linux that of reads and writes: a test may send
// megabytes without an allocation.
func steps() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	sum := stats.Mallocs
	counts, _ := os.ReadFile("/proc/self/io")
	for line := range strings.Lines(string(counts)) {
		if name, count, _ := strings.Cut(line, ": "); name == "syscr" || name == "syscw" {
			n, _ := strconv.ParseUint(strings.TrimSpace(count), 10, 64)
			sum += n
		}
	}
	return sum
}
