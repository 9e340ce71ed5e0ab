package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"plantstore/e2e/internal/wrk"
)

// A target is a figure to reach.
type target struct {
	figure string
	bound  float64
	most   bool    // bound is a maximum, not a minimum
	value  float64 // NaN if it was not measured
	digits int     // digits after the point
}

// verdict returns whether the target was reached.
func (t target) verdict() string {
	switch {
	case math.IsNaN(t.value):
		return "not measured"
	case t.most && t.value <= t.bound, !t.most && t.value >= t.bound:
		return "ok"
	}
	return "missed"
}

// want returns the bound.
func (t target) want() string {
	if t.most {
		return fmt.Sprintf("≤ %.*f", t.digits, t.bound)
	}
	return fmt.Sprintf("≥ %.*f", t.digits, t.bound)
}

// got returns the measured value.
func (t target) got() string {
	if math.IsNaN(t.value) {
		return "-"
	}
	return fmt.Sprintf("%.*f", t.digits, t.value)
}

// ratioDigits is the number of digits of the ratios after the point.
const ratioDigits = 2

// targets compares the results with the targets.
func targets(r *results) []target {
	return slices.Concat(ratioTargets(r), ownTargets(r), logTargets(r), storedTargets(r), longTargets(r), []target{
		{figure: "allocations for each create", bound: 45, most: true, value: orNaN(r.allocations)},
		{figure: "lines of storage/bbolt with its journal", bound: 3000, most: true, value: orNaN(float64(r.lines))},
		{figure: "requests without status 200", most: true, value: float64(r.bad())},
		{figure: "share of the machine that others used", bound: calm, most: true, value: median(r.all(), others), digits: ratioDigits},
	})
}

// orNaN returns value, or NaN if it is 0, which is never measured.
func orNaN(value float64) float64 {
	if value == 0 {
		return math.NaN()
	}
	return value
}

// ratioTargets are the ratios to other programs, on empty stores.
func ratioTargets(r *results) []target {
	var all []target
	add := func(figure, other string, clients int, bound float64, most bool, value func(sample) float64) {
		l := load{order: wrk.Ascending, clients: clients}
		all = append(all, target{
			figure: fmt.Sprintf("%s / %s, c=%d", figure, other, clients),
			bound:  bound, most: most, digits: ratioDigits,
			value: r.against(l, other, value),
		})
	}
	add("throughput", naiveName, 1, 1.3, false, throughput)
	add("throughput", sqliteName, 1, 1, false, throughput)
	add("throughput", naiveName, 16, 7, false, throughput)
	add("throughput", naiveName, 64, 9, false, throughput)
	add("throughput", naiveName, 256, 8, false, throughput)
	add("throughput", floorName, 64, 0.90, false, throughput)
	add("throughput", floorName, 256, 0.87, false, throughput)
	add("throughput", floorPlusName, 64, 0.72, false, throughput)
	add("throughput", floorPlusName, 256, 0.82, false, throughput)
	add("throughput", sqliteName, 64, 8, false, throughput)
	add("server CPU for each create", floorName, 64, 1.2, true, cpu)
	add("latency p50", naiveName, 1, 1, true, p50)
	add("latency p99", naiveName, 64, 0.2, true, p99)
	return all
}

// against returns the server's ratio to another program under a load, or NaN.
func (r *results) against(l load, other string, value func(sample) float64) float64 {
	for _, m := range r.groups {
		if m.name == l.String() {
			return ratio(m.samples[m.find(plantstoreName)], m.samples[m.find(other)], value)
		}
	}
	return math.NaN()
}

// secondAgainstFirst returns the ratio of the throughput of the second contender to the first one
// of a group, or NaN.
func (r *results) secondAgainstFirst(group string) float64 {
	return ratio(r.samples(group, 1), r.samples(group, 0), throughput)
}

// ownTargets are the targets for the chain without a store, and for the order of the ids.
func ownTargets(r *results) []target {
	return []target{
		{
			figure: "throughput of floor+ / bare, no logs, c=64", bound: 0.85, digits: ratioDigits,
			value: r.secondAgainstFirst(chainName),
		},
		{
			figure: "throughput with scattered / ascending ids, empty stores, c=64", bound: 0.88, digits: ratioDigits,
			value: r.secondAgainstFirst(ordersName),
		},
	}
}

// logTargets are the targets for the cost of the access log.
func logTargets(r *results) []target {
	var all []target
	for _, clients := range []int{64, 256} {
		bound := 0.90
		if clients == 256 {
			bound = 0.95
		}
		all = append(all, target{
			figure: fmt.Sprintf("throughput with access log / without, c=%d", clients),
			bound:  bound, digits: ratioDigits,
			value: r.secondAgainstFirst(logName(clients)),
		})
	}
	return all
}

// storedTargets are the targets with ascending ids in the store.
func storedTargets(r *results) []target {
	size := math.NaN()
	if r.sequential != nil && r.sequential.bytes > 0 {
		size = float64(r.sequential.bytes) / float64(r.sequential.plants)
	}
	return []target{
		{
			figure: "throughput with ascending ids stored / empty, c=64", bound: 0.95, digits: ratioDigits,
			value: r.secondAgainstFirst(storedName(64)),
		},
		{figure: "bytes for each plant of ascending ids", bound: 70, most: true, value: size, digits: 1},
		{
			figure: "start with ascending ids stored, ms", bound: 1000, most: true,
			value: median(r.samples(storedName(64), storedSequential), started),
		},
	}
}

// longTargets are the targets for the long load, during which there are checkpoints.
func longTargets(r *results) []target {
	var all []target
	add := func(figure string, clients int, bound float64, most bool, value float64, digits int) {
		figure = fmt.Sprintf("%s, c=%d", figure, clients)
		all = append(all, target{figure: figure, bound: bound, most: most, value: value, digits: digits})
	}
	for _, least := range []struct {
		clients    int
		throughput float64
	}{{64, 0.65}, {256, 0.85}} {
		name, clients := longName(least.clients), least.clients
		random := r.samples(name, longRandom)
		add("throughput with scattered ids stored / empty, long load", clients, least.throughput, false,
			r.secondAgainstFirst(name), ratioDigits)
		add("lowest second / median one, scattered ids stored", clients, 0.75, false, median(random, lowest), ratioDigits)
		add("longest pause, ms, scattered ids stored", clients, 250, true, greatest(random, paused), 0)
	}
	const clients, mega = 64, 1e6
	empty, noJournal := r.samples(longName(clients), longEmpty), r.samples(longName(clients), longNoJournal)
	add("memory more than without a journal, MB", clients, 48, true, difference(empty, noJournal, memory)/mega, 1)
	add("start after kill -9 under load, longest, ms", clients, 200, true, greatest(r.samples(longName(clients), longRandom), restarted), 0)
	return all
}

// tableOfTargets is the output of make bench.
func tableOfTargets(all []target) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\twanted\tmeasured\t")
	for _, t := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.figure, t.want(), t.got(), t.verdict())
	}
	_ = w.Flush() // a strings.Builder never fails
	return text.String()
}
