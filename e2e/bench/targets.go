package main

import (
	"fmt"
	"slices"
	"time"
)

// A target is a bound of a metric.
type target struct {
	Name, metric string

	Want string        // at most or at least a limit, with its unit
	of   []measurement // two: the metric of the first divided by that of the second; none: of all samples
}

// targets returns all targets. Measurements are made in this order, so that those that are
// compared are close to each other.
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
	var imports []measurement
	for _, program := range []string{own, "bbolt"} {
		imports = append(imports, measurement{Name: program + ", import of 1 M plants", run: (*harness).importMillion, program: program})
	}
	pair := func(other string, clients int) []measurement {
		return []measurement{loadOf(own, clients), loadOf(other, clients)}
	}
	return []target{
		{"creates / naive, c=1", "creates", "≥ 1.00", pair("naive", 1)},
		{"creates / naive, c=16", "creates", "≥ 5.50", pair("naive", 16)},
		{"creates / naive, c=64", "creates", "≥ 9.00", pair("naive", 64)},
		{"latency p99 / naive, c=64", "p99", "≤ 0.25", pair("naive", 64)},
		{"creates / floor, c=64", "creates", "≥ 0.60", pair("floor", 64)},
		{"creates, scattered / ascending ids, empty store, c=64", "creates", "≥ 0.60", []measurement{across, up}},
		{"creates, scattered ids, 1 M stored / empty store, c=64", "creates", "≥ 0.65", []measurement{acrossStored, across}},
		{"creates, ascending ids, 5 M stored / empty store, c=64", "creates", "≥ 0.95", []measurement{upStored, up}},
		{"creates / naive, c=256", "creates", "≥ 9.00", pair("naive", 256)},
		{"lowest / median second of 60 s, c=64", "lowest", "≥ 0.70", []measurement{minute}},
		{"resident memory of an idle server", "memory", "≤ 25.0 MB", []measurement{idle}},
		{"start after kill -9 under load", "start", "≤ 100.0 ms", []measurement{killed}},
		{"import of 1 M plants / bare bbolt", "creates", "≥ 0.50", imports},
		{"longest create during plants count", "longest", "≤ 100.0 ms", reading("plants count")},
		{"longest create during plants list", "longest", "≤ 100.0 ms", reading("plants list --limit 100")},
		{"longest create during backup", "longest", "≤ 100.0 ms", reading("backup copy.db")},
		{"creates, floor+ / bare, no logs, c=64", "creates", "≥ 0.90", []measurement{loadOf("floor+", 64), loadOf("bare", 64)}},
		{"creates without status 200", "bad", "≤ 0.00", nil},
		{"share of the machine that others used", "others", "≤ 0.10", nil},
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

// Got returns the measured value, and whether it misses the target.
func (t target) Got(r results) string {
	var sign, unit string
	var limit float64
	_, _ = fmt.Sscan(t.Want, &sign, &limit, &unit) // a ratio has no unit
	v, format := t.value(r), "%.2f"
	if unit != "" {
		format = "%.1f " + unit
	}
	if met := sign == "≥" && v >= limit || sign == "≤" && v <= limit; !met {
		format += ", missed"
	}
	return fmt.Sprintf(format, v)
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
