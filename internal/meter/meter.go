// Package meter counts what happens, at the price of an atomic addition or two, for
// whoever wants to look at it from time to time. It knows nothing of how that is
// shown.
package meter

import (
	"slices"
	"sync/atomic"
	"time"
)

// A Histogram counts values by size. It may be used by any number of goroutines.
type Histogram struct {
	bounds []int64
	counts []atomic.Uint64 // one for each bound, and one for what is above the last
	sum    atomic.Int64
}

// NewHistogram returns a histogram whose buckets end with these values, which
// ascend.
func NewHistogram(bounds ...int64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Durations returns a histogram for nanoseconds, from half a millisecond to ten
// seconds.
func Durations() *Histogram {
	const ms = int64(time.Millisecond)
	return NewHistogram(ms/2, ms, 2*ms, 5*ms, 10*ms, 20*ms, 50*ms, 100*ms, 200*ms, 500*ms, 1000*ms, 2000*ms, 5000*ms, 10000*ms)
}

// Observe counts a value. A bound belongs to the bucket that it ends.
func (h *Histogram) Observe(value int64) {
	i, _ := slices.BinarySearch(h.bounds, value)
	h.counts[i].Add(1)
	h.sum.Add(value)
}

// A Distribution is what a [Histogram] has counted so far.
type Distribution struct {
	Bounds []int64  // must not be changed
	Counts []uint64 // by bound: of all values up to it
	Count  uint64   // of all values
	Sum    int64
}

// Read returns what has been counted so far.
func (h *Histogram) Read() Distribution {
	d := Distribution{Bounds: h.bounds, Counts: make([]uint64, len(h.bounds))}
	for i := range h.bounds {
		d.Count += h.counts[i].Load()
		d.Counts[i] = d.Count
	}
	d.Count += h.counts[len(h.bounds)].Load()
	d.Sum = h.sum.Load()
	return d
}
