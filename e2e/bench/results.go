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
	bad        int64 // requests that were not answered with 200
}

// measured is a group with the samples of each contender, one for each round.
type measured struct {
	group

	samples [][]sample
}

// results are all that was measured.
type results struct {
	allocations float64 // for each create, in process
	groups      []measured
	stored      []measured
	sequential  *store
	random      *store
}

// find returns the index of a program among the contenders.
func (g group) find(program string) int {
	return slices.IndexFunc(g.contenders, func(c contender) bool { return c.String() == program })
}

// median returns the median of what value says of the samples.
func median(samples []sample, value func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = value(s)
	}
	return medianOf(values)
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
func started(s sample) float64    { return float64(s.start.Milliseconds()) }

// all returns the samples of all contenders.
func (r *results) all() (all []sample) {
	for _, m := range slices.Concat(r.groups, r.stored) {
		all = append(all, slices.Concat(m.samples...)...)
	}
	return all
}

// bad returns how many requests were not answered with 200.
func (r *results) bad() (total int64) {
	for _, s := range r.all() {
		total += s.bad
	}
	return total
}
