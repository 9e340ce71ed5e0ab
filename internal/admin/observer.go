package admin

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"plantstore/models"
)

// An outcome classifies the response to a request.
type outcome string

const (
	created outcome = "created" // a plant was created
	read    outcome = "read"    // another success: a document, a redirect or a preflight
	refused outcome = "refused" // the client can avoid it
	failed  outcome = "failed"  // see [models.Code.ServerFault]
)

func outcomes() []outcome { return []outcome{created, read, refused, failed} }

func outcomeOf(code models.Code) outcome {
	if code.ServerFault() {
		return failed
	}
	return refused
}

// An Observer keeps the metrics that are updated with each event. All others are read from
// statistics when they are queried. Its methods are safe for concurrent use.
type Observer struct {
	durations      map[outcome]*histogram // of requests; never changed
	errors         errorCounts
	faults         errorCounts   // on demand
	delays         atomic.Uint64 // on demand
	commitPlants   *histogram
	commitDuration *histogram
}

// NewObserver returns an Observer without observations.
func NewObserver() *Observer {
	o := &Observer{
		durations:      make(map[outcome]*histogram),
		commitPlants:   newHistogram(1, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000),
		commitDuration: newDurations(),
	}
	for _, of := range outcomes() {
		o.durations[of] = newDurations()
	}
	return o
}

// Request observes the response to a request: an Error, or a success if code is 0. Responses with a
// fault on demand are not observed.
func (o *Observer) Request(r *http.Request, code models.Code, took time.Duration) {
	of := read
	switch {
	case code != 0:
		of = outcomeOf(code)
		o.errors.Add(code)
	case r.Method == http.MethodPost: // only plants can be posted (C1.1)
		of = created
	}
	o.durations[of].observe(int64(took))
}

// Fault observes a fault on demand: its code, 0 for none, and whether it has delayed the response.
func (o *Observer) Fault(code models.Code, delayed bool) {
	if code != 0 {
		o.faults.Add(code)
	}
	if delayed {
		o.delays.Add(1)
	}
}

// Refused observes a response without a call of the handler, an Error with that code.
func (o *Observer) Refused(code models.Code) { o.errors.Add(code) }

// Commit observes a commit of that many plants.
func (o *Observer) Commit(plants int, took time.Duration) {
	o.commitPlants.observe(int64(plants))
	o.commitDuration.observe(int64(took))
}

// errorCounts count Errors by their codes, which must be known ones.
type errorCounts struct {
	counts [models.CodeInsufficientSpace - models.CodeBadRequest + 1]atomic.Uint64
}

func (e *errorCounts) Add(code models.Code) { e.counts[code-models.CodeBadRequest].Add(1) }

func (e *errorCounts) Count(code models.Code) uint64 {
	return e.counts[code-models.CodeBadRequest].Load()
}

// A histogram counts values by their upper bounds.
type histogram struct {
	unit   float64         // of the metric, in values
	bounds []int64         // ascending
	counts []atomic.Uint64 // by bound, and one for larger values
	sum    atomic.Int64
}

func newHistogram(unit float64, bounds ...int64) *histogram {
	return &histogram{unit: unit, bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// newDurations returns a histogram that counts nanoseconds and reports seconds.
func newDurations() *histogram {
	const ms = int64(time.Millisecond)
	return newHistogram(float64(time.Second), ms/2, ms, 2*ms, 5*ms, 10*ms, 20*ms, 50*ms, 100*ms, 200*ms, 500*ms, 1000*ms, 2000*ms, 5000*ms, 10000*ms)
}

func (h *histogram) observe(value int64) {
	i, _ := slices.BinarySearch(h.bounds, value)
	h.counts[i].Add(1)
	h.sum.Add(value)
}

func (h *histogram) count() (n uint64) {
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return n
}

func (h *histogram) series(labels ...string) (all []series) {
	total := uint64(0)
	for i := range h.counts {
		total += h.counts[i].Load()
		bound := math.Inf(1)
		if i < len(h.bounds) {
			bound = float64(h.bounds[i]) / h.unit
		}
		all = append(all, series{"_bucket" + braced(append(labels, fmt.Sprintf(`le="%v"`, bound))...), total})
	}
	return append(all, series{"_sum" + braced(labels...), float64(h.sum.Load()) / h.unit}, series{"_count" + braced(labels...), total})
}
