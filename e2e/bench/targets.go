package main

import (
	"fmt"
	"math"
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

// targets compares the results with the targets.
func targets(r *results) []target {
	const least, most, mega = false, true, 1e6
	var all []target
	add := func(figure string, most bool, bound, value float64, digits int) {
		all = append(all, target{figure: figure, bound: bound, most: most, value: value, digits: digits})
	}
	for _, t := range []struct {
		figure, other string
		clients       int
		bound         float64
		most          bool
		value         func(sample) float64
	}{
		{"throughput", naiveName, 1, 1.3, least, throughput},
		{"throughput", sqliteName, 1, 1, least, throughput},
		{"throughput", naiveName, 16, 7, least, throughput},
		{"throughput", naiveName, 64, 11, least, throughput},
		{"throughput", naiveName, 256, 8, least, throughput},
		{"throughput", floorName, 64, 0.90, least, throughput},
		{"throughput", floorName, 256, 0.87, least, throughput},
		{"throughput", floorPlusName, 64, 0.72, least, throughput},
		{"throughput", floorPlusName, 256, 0.82, least, throughput},
		{"throughput", sqliteName, 64, 8, least, throughput},
		{"server CPU for each create", floorName, 64, 1.2, most, cpu},
		{"latency p50", naiveName, 1, 1, most, p50},
		{"latency p99", naiveName, 64, 0.2, most, p99},
	} {
		l := load{order: wrk.Ascending, clients: t.clients}
		add(fmt.Sprintf("%s / %s, c=%d", t.figure, t.other, t.clients), t.most, t.bound, r.against(l, t.other, t.value), 2)
	}
	add("throughput of floor+ / bare, no logs, c=64", least, 0.90, r.secondAgainstFirst(chainName), 2)
	add("throughput with scattered / ascending ids, empty stores, c=64", least, 0.88, r.secondAgainstFirst(ordersName), 2)
	add("throughput with access log / without, c=64", least, 0.90, r.secondAgainstFirst(logName(64)), 2)
	add("throughput with access log / without, c=256", least, 0.95, r.secondAgainstFirst(logName(256)), 2)
	add("throughput with ascending ids stored / empty, c=64", least, 0.95, r.secondAgainstFirst(storedName(64)), 2)
	size := math.NaN()
	if r.sequential != nil && r.sequential.bytes > 0 {
		size = float64(r.sequential.bytes) / float64(r.sequential.plants)
	}
	add("bytes for each plant of ascending ids", most, 70, size, 1)
	add("start with ascending ids stored, ms", most, 1000, median(r.samples(storedName(64), storedSequential), started), 0)
	for i, clients := range []int{64, 256} {
		name, bound := longName(clients), []float64{0.65, 0.85}[i]
		random := r.samples(name, longRandom)
		add(fmt.Sprintf("throughput with scattered ids stored / empty, long load, c=%d", clients), least, bound, r.secondAgainstFirst(name), 2)
		add(fmt.Sprintf("lowest second / median one, scattered ids stored, c=%d", clients), least, 0.70, median(random, lowest), 2)
		add(fmt.Sprintf("longest pause, ms, scattered ids stored, c=%d", clients), most, 250, greatest(random, paused), 0)
	}
	empty, noJournal := r.samples(longName(64), longEmpty), r.samples(longName(64), longNoJournal)
	add("memory more than without a journal, MB, c=64", most, 80, difference(empty, noJournal, memory)/mega, 1)
	add("start after kill -9 under load, longest, ms, c=64", most, 200, greatest(r.samples(longName(64), longRandom), restarted), 0)
	if r.allocations == 0 {
		r.allocations = math.NaN()
	}
	add("allocations for each create", most, 45, r.allocations, 0)
	add("requests without status 200", most, 0, float64(r.bad()), 0)
	add("share of the machine that others used", most, calm, median(r.all(), others), 2)
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
