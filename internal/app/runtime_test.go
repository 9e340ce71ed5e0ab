package app

import (
	"runtime"
	"runtime/debug"
	"testing"

	"plantstore/storage"
)

// TestTuneRuntime checks that GOGC and GOMAXPROCS override the tuning, and that only a store in a
// file gets one more processor.
func TestTuneRuntime(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.SetDefaultGOMAXPROCS() // the servers of other tests have changed it
	processors := runtime.GOMAXPROCS(0)
	defer runtime.SetDefaultGOMAXPROCS()
	file := storage.Location{Scheme: storage.DefaultScheme, Path: "plants.db"}
	for _, test := range []struct {
		env                map[string]string
		location           storage.Location
		growth, processors int
	}{
		{map[string]string{"GOGC": "100", "GOMAXPROCS": "1"}, file, 100, processors},
		{nil, storage.Location{Scheme: "etcd"}, heapGrowth, processors},
		{nil, file, heapGrowth, processors + 1},
		{nil, file, heapGrowth, processors + 1}, // again, as the next server of a process
	} {
		tuneRuntime(test.env, test.location)
		if got := runtime.GOMAXPROCS(0); got != test.processors {
			t.Errorf("%v, %s: %d processors, want %d", test.env, test.location.Scheme, got, test.processors)
		}
		if got := debug.SetGCPercent(100); got != test.growth {
			t.Errorf("%v, %s: GOGC is %d, want %d", test.env, test.location.Scheme, got, test.growth)
		}
	}
}
