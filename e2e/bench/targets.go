package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"plantstore/e2e/internal/wrk"
)

// firstAllocations is how often the first version of the server allocated for
// each create, when it was measured as [harness.countAllocations] does it.
const firstAllocations = 83

// A target is a figure that is to be reached.
type target struct {
	figure string
	bound  float64
	most   bool    // bound is the most that is allowed, not the least
	value  float64 // NaN if it was not measured
	digits int     // after the point
}

// verdict says whether the target was reached.
func (t target) verdict() string {
	switch {
	case math.IsNaN(t.value):
		return "not measured"
	case t.most && t.value <= t.bound, !t.most && t.value >= t.bound:
		return "ok"
	}
	return "missed"
}

// want says what the bound is.
func (t target) want() string {
	if t.most {
		return fmt.Sprintf("≤ %.*f", t.digits, t.bound)
	}
	return fmt.Sprintf("≥ %.*f", t.digits, t.bound)
}

// got says what was measured.
func (t target) got() string {
	if math.IsNaN(t.value) {
		return "-"
	}
	return fmt.Sprintf("%.*f", t.digits, t.value)
}

// targets holds the results against what is to be reached.
func targets(r *results) []target {
	return slices.Concat(ratioTargets(r), logTargets(r), storedTargets(r), []target{
		{figure: "allocations for each create / first version", bound: 0.5, most: true, value: r.allocations / firstAllocations, digits: 2},
		{figure: "requests not answered with 200", most: true, value: float64(r.bad())},
		{figure: "share of the machine that others used", bound: calm, most: true, value: median(r.all(), others), digits: 2},
	})
}

// ratioTargets are those against other programs, on empty stores.
func ratioTargets(r *results) []target {
	var all []target
	add := func(figure, other string, clients int, bound float64, most bool, value func(sample) float64) {
		l := load{order: wrk.Ascending, clients: clients}
		all = append(all, target{
			figure: fmt.Sprintf("%s / %s, c=%d", figure, other, clients),
			bound:  bound, most: most, digits: 2,
			value: r.against(l, other, value),
		})
	}
	add("throughput", naiveName, 64, 9, false, throughput)
	add("throughput", naiveName, 256, 8, false, throughput)
	add("throughput", naiveName, 16, 5, false, throughput)
	add("throughput", floorName, 64, 0.80, false, throughput)
	add("throughput", floorName, 256, 0.87, false, throughput)
	add("throughput", floorPlusName, 64, 0.70, false, throughput)
	add("throughput", floorPlusName, 256, 0.75, false, throughput)
	add("server CPU for each create", floorName, 64, 1.07, true, cpu)
	add("latency p50", naiveName, 1, 1.0, true, p50)
	add("latency p99", naiveName, 64, 0.20, true, p99)
	add("throughput", sqliteName, 64, 8, false, throughput)
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

// logTargets are those of what the logs cost.
func logTargets(r *results) []target {
	var all []target
	for _, clients := range []int{64, 256} {
		for _, log := range []struct {
			figure string
			index  int
		}{{"access log", logAccess}, {"audit log", logAudit}} {
			t := target{
				figure: fmt.Sprintf("throughput with %s / without, c=%d", log.figure, clients),
				bound:  0.95, digits: 2, value: math.NaN(),
			}
			if i := slices.IndexFunc(r.groups, func(m measured) bool { return m.name == logName(clients) }); i >= 0 {
				samples := r.groups[i].samples
				t.value = ratio(samples[log.index], samples[logNone], throughput)
			}
			all = append(all, t)
		}
	}
	return all
}

// storedTargets are those with plants in the store.
func storedTargets(r *results) []target {
	var all []target
	add := func(figure string, stored int, clients int, bound float64) {
		all = append(all, target{
			figure: fmt.Sprintf("throughput with %s / empty, c=%d", figure, clients),
			bound:  bound, digits: 2,
			value: r.againstEmpty(stored, clients),
		})
	}
	add("ascending ids stored", storedSequential, 64, 0.95)
	add("scattered ids stored", storedRandom, 64, 0.36)
	add("scattered ids stored", storedRandom, 256, 0.39)
	size, start := math.NaN(), math.NaN()
	if r.sequential != nil {
		size = float64(r.sequential.bytes) / float64(r.sequential.plants)
	}
	if samples := r.storedSamples(storedSequential, 64); samples != nil {
		start = median(samples, started)
	}
	return append(all,
		target{figure: "bytes for each plant of ascending ids", bound: 70, most: true, value: size, digits: 1},
		target{figure: "start with ascending ids stored, ms", bound: 1000, most: true, value: start},
	)
}

// storedSamples returns the samples of a contender of [storedPlan], or nil.
func (r *results) storedSamples(index, clients int) []sample {
	for _, m := range r.stored {
		if m.name == storedName(clients) {
			return m.samples[index]
		}
	}
	return nil
}

// againstEmpty returns the ratio of the throughputs with plants in the store and
// without, or NaN.
func (r *results) againstEmpty(index, clients int) float64 {
	samples := r.storedSamples(index, clients)
	if samples == nil {
		return math.NaN()
	}
	return ratio(samples, r.storedSamples(storedEmpty, clients), throughput)
}

// tableOfTargets is what make bench prints.
func tableOfTargets(all []target) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\twanted\tmeasured\t")
	for _, t := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.figure, t.want(), t.got(), t.verdict())
	}
	_ = w.Flush() // a strings.Builder takes it all
	return text.String()
}
