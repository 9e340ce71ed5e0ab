package main

import (
	"fmt"
	"slices"
	"time"
)

// A target is a bound of a metric.
type target struct {
	Name, metric string

	Want string        // at most or at least a limit, with its unit; empty: no target, only information
	of   []measurement // two: the metric of the first divided by that of the second; none: of all samples
	Why  string        // a run misses the target
}

// What makes a run miss a target.
const (
	disk   = "Creates wait for the disk: compare the run with one on a faster disk."
	pages  = "Ids in random order change more pages of the database, and each page is synced."
	others = "Others used the disk or the processors."
	memory = "Memory that the garbage collector has not returned yet counts, too."
)

// targets returns all targets, then the comparisons that tell how fast the disk syncs. Measurements are made
// in this order, so that those that are compared are close to each other.
func targets() []target {
	up, across := loadOf(own, 64), loadOf(own, 64)
	across.Name, across.order = across.Name+", scattered ids", scattered
	upStored, acrossStored := up, across
	upStored.Name, upStored.stored = up.Name+", 5 M stored", store{ascending, 5_000_000}
	acrossStored.Name, acrossStored.stored = across.Name+", 1 M stored", store{scattered, 1_000_000}
	minute, killed := up, acrossStored
	minute.Name, minute.duration = up.Name+", 60 s", time.Minute
	killed.Name, killed.run = "plantstore, kill -9", (*harness).restart
	idle := measurement{Name: "plantstore, idle", run: (*harness).idle, program: own}
	crowded := idle
	crowded.Name, crowded.Clients = "plantstore, connections", 10_000
	var imports []measurement
	for _, order := range []string{scattered, ascending} {
		imports = append(imports, measurement{Name: "plantstore, import of 1 M plants, " + order + " ids", run: (*harness).importMillion, order: order})
	}
	pair := func(other string, clients int) []measurement {
		return []measurement{loadOf(own, clients), loadOf(other, clients)}
	}
	return []target{
		{"creates / floor, c=64", "creates", "≥ 0.60", pair("floor", 64), disk},
		{"creates / floor, c=256", "creates", "≥ 0.65", pair("floor", 256), disk},
		{"latency p99 / floor, c=64", "p99", "≤ 2.00", pair("floor", 64), disk},
		{"processor time of a create / floor, c=64", "cpu", "≤ 1.50", pair("floor", 64), disk},
		{"creates / naive, c=1", "creates", "≥ 0.95", pair("naive", 1), others},
		{"creates, scattered / ascending ids, empty store, c=64", "creates", "≥ 0.60", []measurement{across, up}, pages},
		{"creates, scattered ids, 1 M stored / empty store, c=64", "creates", "≥ 0.65", []measurement{acrossStored, across}, pages},
		{"creates, ascending ids, 5 M stored / empty store, c=64", "creates", "≥ 0.95", []measurement{upStored, up}, others},
		{"lowest / median second of 60 s, c=64", "lowest", "≥ 0.70", []measurement{minute}, others},
		{"import of 1 M plants, scattered / ascending ids", "creates", "≥ 0.50", imports, pages},
		{"resident memory of an idle server", "memory", "≤ 25.0 MB", []measurement{idle}, memory},
		{"resident memory with 10,000 connections", "memory", "≤ 400.0 MB", []measurement{crowded}, memory},
		{"start after kill -9 under load", "start", "≤ 100.0 ms", []measurement{killed}, others},
		{"longest create during plants count", "longest", "≤ 100.0 ms", reading("plants count"), others},
		{"longest create during plants list", "longest", "≤ 100.0 ms", reading("plants list --limit 100"), others},
		{"longest create during backup", "longest", "≤ 100.0 ms", reading("backup copy.db"), disk},
		{"creates without status 200", "bad", "≤ 0.00", nil, disk},
		{"share of the machine that others used", "others", "≤ 0.10", nil, others},
		{"creates, c=16", "creates", "", pair("naive", 16), ""},
		{"creates, c=64", "creates", "", pair("naive", 64), ""},
		{"creates, c=256", "creates", "", pair("naive", 256), ""},
	}
}

// loadOf returns the measurement of a program with ascending ids on an empty store.
func loadOf(program string, clients int) measurement {
	return measurement{
		Name: fmt.Sprintf("%s, c=%d", program, clients), run: (*harness).load, program: program,
		order: ascending, Clients: clients, duration: 5 * time.Second,
	}
}

// reading returns the measurement of a load during which a command reads the plants.
func reading(command string) []measurement {
	m := loadOf(own, 64)
	m.Name, m.read = m.Name+", "+command, command
	m.stored, m.duration = store{ascending, 100_000}, 10*time.Second
	return []measurement{m}
}

// value returns the figure that is compared with the limit.
func (t target) value(r results) float64 {
	var values []float64
	if len(t.of) == 0 {
		for name := range r {
			values = append(values, r.values(name, t.metric)...)
		}
	} else {
		values = r.values(t.of[0].Name, t.metric)
	}
	if len(t.of) == 2 {
		for i, divisor := range r.values(t.of[1].Name, t.metric) {
			values[i] /= divisor
		}
	}
	if slices.Contains([]string{"start", "longest", "bad"}, t.metric) {
		return slices.Max(values) // the worst round counts
	}
	return medianOf(values)
}

// limit returns the sign, the limit and the unit of the target. A ratio has no unit.
func (t target) limit() (sign string, limit float64, unit string) {
	_, _ = fmt.Sscan(t.Want, &sign, &limit, &unit) // the unit may be missing
	return sign, limit, unit
}

// Missed reports whether the results miss the target.
func (t target) Missed(r results) bool {
	sign, limit, _ := t.limit()
	v := t.value(r)
	return sign == "≥" && v < limit || sign == "≤" && v > limit
}

// Got returns the measured value.
func (t target) Got(r results) string {
	if _, _, unit := t.limit(); unit != "" {
		return fmt.Sprintf("%.1f %s", t.value(r), unit)
	}
	return fmt.Sprintf("%.2f", t.value(r))
}

// results are the samples of each measurement by its name, one for each round.
type results map[string][]sample

// values returns a metric of a measurement in each round.
func (r results) values(name string, metric string) (values []float64) {
	for _, s := range r[name] {
		values = append(values, s[metric])
	}
	return values
}

// Median returns the median of a metric of a measurement.
func (r results) Median(name string, metric string) float64 { return medianOf(r.values(name, metric)) }

// medianOf returns the median of values, which it sorts.
func medianOf(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
