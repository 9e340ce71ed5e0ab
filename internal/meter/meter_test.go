package meter_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/meter"
	"plantstore/models"
)

func TestHistogram(t *testing.T) {
	t.Parallel()
	h := meter.NewHistogram(1, 10, 100)
	for _, value := range []int64{-1, 0, 1, 2, 10, 11, 100, 101, 5000} {
		h.Observe(value)
	}
	want := meter.Distribution{Bounds: []int64{1, 10, 100}, Counts: []uint64{3, 5, 7}, Count: 9, Sum: 5224}
	if diff := cmp.Diff(want, h.Read()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHistogramRacing(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 1000
	h := meter.Durations()
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				h.Observe(int64(3 * time.Millisecond))
			}
		})
	}
	all.Wait()
	if d := h.Read(); d.Count != goroutines*each || d.Sum != goroutines*each*int64(3*time.Millisecond) {
		t.Errorf("%d values, in all %d", d.Count, d.Sum)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	r := meter.NewRequests()
	for _, answer := range []struct {
		method string
		code   models.Code
	}{
		{http.MethodPost, 0},
		{http.MethodPost, 0},
		{http.MethodGet, 0},
		{http.MethodGet, 404},
		{http.MethodPost, 409},
		{http.MethodPost, 409},
		{http.MethodPost, 500},
		{http.MethodPost, 507},
		{http.MethodPost, 999},
	} {
		r.Observe(answer.method, answer.code, time.Second)
	}
	for outcome, want := range map[meter.Outcome]uint64{meter.Created: 2, meter.Read: 1, meter.Refused: 3, meter.Failed: 3} {
		if d := r.Took(outcome); d.Count != want || d.Sum != int64(want)*int64(time.Second) { //nolint:gosec // small numbers
			t.Errorf("%s: %d in %v, want %d", outcome, d.Count, time.Duration(d.Sum), want)
		}
	}
	codes := map[models.Code]uint64{404: 1, 409: 2, 500: 2, 507: 1} // one is none of the list
	for _, c := range models.Codes() {
		if got := r.Errors.Count(c.Code); got != codes[c.Code] {
			t.Errorf("error %d: %d, want %d", c.Code, got, codes[c.Code])
		}
	}
}

// What is counted for each request costs no memory.
//
//nolint:paralleltest // others allocate
func TestRequestsAllocateNothing(t *testing.T) {
	r := meter.NewRequests()
	if n := testing.AllocsPerRun(100, func() { r.Observe(http.MethodPost, 409, time.Millisecond) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
