package app

import (
	"runtime/debug"
	"testing"
)

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
