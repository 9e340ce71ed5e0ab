package cli

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// restInterval is how long the server must have had next to nothing to do.
	restInterval = 5 * time.Second
	// restAllocs is how many bytes are allocated meanwhile at most, and
	// workAllocs how many since memory was last returned at least.
	restAllocs, workAllocs = 1 << 20, 16 << 20
)

// returnMemory gives the system back what the server does not need whenever it
// comes to rest, until ctx is done: the stacks and the garbage that a burst of
// work leaves with idle connections are more than half of what they cost, and
// without work no collection would take them away.
func returnMemory(ctx context.Context) {
	ticker := time.NewTicker(restInterval)
	defer ticker.Stop()
	var last, returned uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := allocated()
		if now-last < restAllocs && now-returned > workAllocs {
			runtime.GC() // pools give up what they hold at the second collection only
			debug.FreeOSMemory()
			returned = allocated()
		}
		last = now
	}
}

// allocated returns how many bytes were allocated since the program started.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
