package main

import (
	"math"
	"slices"
	"time"
)

// A sample is one measurement.
type sample struct {
	throughput float64 // requests per second
	p50, p99   float64 // latencies in µs
	cpu        float64 // of the server, in µs for each request
	others     float64 // share of the machine that other processes used
	start      time.Duration
	bad        int64   // requests that did not get 200
	memory     float64 // peak memory of the server in bytes, without mapped files

	// Of a long load alone:
	lowest float64       // responses in the lowest second, as a share of the median second
	pause  time.Duration // longest time without a response

	restart time.Duration // longest time from start to first response after kill -9; 0 if it was not killed
}

// measured is a group with the samples of each contender, one for each round.
type measured struct {
	group

	samples [][]sample
}

// results are all results of a run.
type results struct {
	allocations float64 // for each create, in process
	groups      []measured
	sequential  *store
	random      *store
}

// samples returns the samples of a contender, none if its group was not measured.
func (r *results) samples(group string, contender int) []sample {
	for _, m := range r.groups {
		if m.name == group {
			return m.samples[contender]
		}
	}
	return nil
}

// find returns the index of a program among the contenders.
func (g group) find(program string) int {
	return slices.IndexFunc(g.contenders, func(c contender) bool { return c.String() == program })
}

// median returns the median of a value of the samples.
func median(samples []sample, value func(sample) float64) float64 {
	return medianOf(valuesOf(samples, value))
}

// greatest returns the greatest value of the samples, or NaN if there are none.
func greatest(samples []sample, value func(sample) float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	return slices.Max(valuesOf(samples, value))
}

// difference returns the median over the rounds of a's value without b's.
func difference(a, b []sample, value func(sample) float64) float64 {
	values := make([]float64, len(a))
	for i := range a {
		values[i] = value(a[i]) - value(b[i])
	}
	return medianOf(values)
}

func valuesOf(samples []sample, value func(sample) float64) []float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = value(s)
	}
	return values
}

// ratio returns the median over the rounds of a's value divided by b's.
func ratio(a, b []sample, value func(sample) float64) float64 {
	values := make([]float64, len(a))
	for i := range a {
		values[i] = value(a[i]) / value(b[i])
	}
	return medianOf(values)
}

// medianOf returns the median of values, which it sorts, or NaN of none.
func medianOf(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

func throughput(s sample) float64 { return s.throughput }
func p50(s sample) float64        { return s.p50 }
func p99(s sample) float64        { return s.p99 }
func cpu(s sample) float64        { return s.cpu }
func others(s sample) float64     { return s.others }
func memory(s sample) float64     { return s.memory }
func lowest(s sample) float64     { return s.lowest }
func started(s sample) float64    { return milliseconds(s.start) }
func paused(s sample) float64     { return milliseconds(s.pause) }
func restarted(s sample) float64  { return milliseconds(s.restart) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// all returns the samples of all contenders.
func (r *results) all() (all []sample) {
	for _, m := range r.groups {
		all = append(all, slices.Concat(m.samples...)...)
	}
	return all
}

// bad returns the number of requests that did not get 200.
func (r *results) bad() (total int64) {
	for _, s := range r.all() {
		total += s.bad
	}
	return total
}
