package operate

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"plantstore/middleware"
	"plantstore/models"
)

// outcomes are those in the metrics: Unknown counts as Failed.
func outcomes() []string {
	return []string{middleware.Created, middleware.Read, middleware.Refused, middleware.Failed}
}

func outcomeOf(code models.Code) string {
	if code.ServerFault() {
		return middleware.Failed
	}
	return middleware.Refused
}

// An Observer keeps the metrics that are updated with each event. All others are read from
// statistics when they are queried. Its methods are safe for concurrent use.
type Observer struct {
	durations      map[string]*histogram // of requests, by outcome; never changed
	errors         errorCounts
	faults         errorCounts   // on demand
	delays         atomic.Uint64 // on demand
	commitPlants   *histogram
	commitDuration *histogram
}

// NewObserver returns an Observer without observations.
func NewObserver() *Observer {
	o := &Observer{
		durations:      make(map[string]*histogram),
		commitPlants:   newHistogram(1, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000),
		commitDuration: newDurations(),
	}
	for _, of := range outcomes() {
		o.durations[of] = newDurations()
	}
	return o
}

// Request observes a request. It counts failures and delays on demand only as such.
func (o *Observer) Request(outcome *middleware.Outcome) {
	demanded := outcome.Name == middleware.Fault
	if demanded {
		o.faults.of(outcome.Error.Code).Add(1)
	}
	if outcome.Delayed > 0 {
		o.delays.Add(1)
	}
	if demanded || outcome.Delayed > 0 {
		return
	}
	name := outcome.Name
	if e := outcome.Error; e != nil {
		name = outcomeOf(e.Code)
		o.errors.of(e.Code).Add(1)
	}
	if outcome.Request != nil {
		o.durations[name].observe(int64(outcome.Took))
	}
}

// Commit observes a commit of that many plants.
func (o *Observer) Commit(plants int, took time.Duration) {
	o.commitPlants.observe(int64(plants))
	o.commitDuration.observe(int64(took))
}

// errorCounts count Errors by their codes, which must be known ones.
type errorCounts [models.CodeInsufficientSpace - models.CodeBadRequest + 1]atomic.Uint64

func (e *errorCounts) of(code models.Code) *atomic.Uint64 { return &e[code-models.CodeBadRequest] }

// responses returns the series of the responses of the handler and those of the server itself.
func (o *Observer) responses() (all []series) {
	for _, of := range []string{middleware.Created, middleware.Read} {
		all = append(all, one(o.durations[of].count(), "outcome", of, "error", "0")...)
	}
	for _, c := range models.Codes() {
		all = append(all, one(o.errors.of(c.Code).Load(), "outcome", outcomeOf(c.Code), "error", c.Code.String())...)
	}
	return all
}

func (o *Observer) onDemand() (all []series) {
	for _, c := range models.Codes() {
		all = append(all, one(o.faults.of(c.Code).Load(), "fault", c.Code.String())...)
	}
	return append(all, one(o.delays.Load(), "fault", "delay")...)
}

func (o *Observer) requestDurations() (all []series) {
	for _, of := range outcomes() {
		all = append(all, o.durations[of].series("outcome", of)...)
	}
	return all
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
		le := "+Inf"
		if i < len(h.bounds) {
			le = fmt.Sprint(float64(h.bounds[i]) / h.unit)
		}
		all = append(all, series{"_bucket" + braced(slices.Concat(labels, []string{"le", le})), total})
	}
	return append(all, series{"_sum" + braced(labels), float64(h.sum.Load()) / h.unit}, series{"_count" + braced(labels), total})
}
