package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// preface is the first part of the document.
const preface = `# Benchmarks

Written by ` + "`make bench`" + `; all figures are of one run. Compare ratios only, since clients and servers share the processors
with whatever else runs on the machine: a ratio is computed within each round, and the table has the median of all rounds.

` + "```sh" + `
make bench                                             # everything
make bench BENCH_ARGS="-only '^ascending ids, c=64'"   # one group only; -help lists what can be set
` + "```" + `

| Program | What it is |
|---|---|
| plantstore | this server as it is released, with the defaults of all options; its log goes to a file |
| floor | a typical server: Gin with JWT, binding and validation, and no store |
| floor+ | this server, over a store that does nothing |
| bare | one Gin route that remembers verified tokens, decodes and validates as this server does; no store, no log |
| naive | floor, with a bbolt transaction for each create |
| SQLite | floor, with GORM and SQLite: WAL, synchronous=FULL |

Each measurement starts a new process, on an empty database unless the table says otherwise. wrk sends creates of
` + "`" + `{"id":…,"name":"Fern","tag":"indoor"}` + "`" + `, each with its own id, over c connections. CPU is user and system time of the
server for each create; memory is without the pages of mapped files. A measurement during which others used more than 10 % of
the machine is repeated. "No disk" is a database in memory, where a sync costs nothing.

The long load lasts for several checkpoints. Its lowest second is a share of the median one, and its longest pause the longest time
in which no client had a response. Then the server is killed under load, and started on its files. Scattered ids are in a
range of 2^32, on pages that are 69 % full, as after single creates.
`

// document returns docs/benchmarks.md.
func document(s settings, m machine, r *results) string {
	var d strings.Builder
	d.WriteString(preface)
	fmt.Fprintf(&d, "\n## The last run\n\n| | |\n|---|---|\n")
	fmt.Fprintf(&d, "| Date | %s |\n", time.Now().UTC().Format(time.DateOnly))
	fmt.Fprintf(&d, "| Machine | %s, %d cores |\n", m.processor, m.cores)
	fmt.Fprintf(&d, "| Kernel | Linux %s |\n", m.kernel)
	fmt.Fprintf(&d, "| Go | %s |\n", runtime.Version())
	fmt.Fprintf(&d, "| Write and sync of 4 KiB | %v, of them %v of a processor |\n", m.sync.Round(time.Microsecond), m.syncCPU.Round(time.Microsecond))
	fmt.Fprintf(&d, "| Measured | %d rounds of %v, long load %v, after a warm-up of %v, in at most %d tries |\n",
		s.rounds, s.duration, s.long, s.warmUp, s.tries)
	fmt.Fprintf(&d, "\n## Targets\n\n| Figure | Target | Measured | |\n|---|---|---|---|\n")
	for _, t := range targets(r) {
		fmt.Fprintf(&d, "| %s | %s | %s | %s |\n", t.figure, t.want(), t.got(), t.verdict())
	}
	d.WriteString("\n## All figures\n\nMedians of the rounds; in brackets the minimum and the maximum.\n")
	for _, m := range r.groups {
		writeGroup(&d, m)
	}
	writeStores(&d, r.sequential, r.random)
	return d.String()
}

// writeStores writes the table of the stores that were filled.
func writeStores(d *strings.Builder, stores ...*store) {
	filled := slices.DeleteFunc(stores, func(s *store) bool { return s == nil || s.bytes == 0 })
	if len(filled) == 0 {
		return
	}
	d.WriteString("\n### Files\n\n| Store | Bytes for each plant |\n|---|---|\n")
	for _, s := range filled {
		fmt.Fprintf(d, "| %s | %.1f |\n", s.name(), float64(s.bytes)/float64(s.plants))
	}
}

// A column is a column in the tables of the groups.
type column struct {
	title string
	cell  func(samples []sample) string
}

// columns returns the columns of all groups.
func columns() []column {
	return []column{
		{"Creates/s", func(samples []sample) string {
			all := valuesOf(samples, throughput)
			return fmt.Sprintf("%.0f (%.0f to %.0f)", medianOf(all), slices.Min(all), slices.Max(all))
		}},
		{"p50, ms", func(samples []sample) string { return fmt.Sprintf("%.2f", median(samples, p50)/1000) }},
		{"p99, ms", func(samples []sample) string { return fmt.Sprintf("%.2f", median(samples, p99)/1000) }},
		{"CPU, µs", func(samples []sample) string { return fmt.Sprintf("%.1f", median(samples, cpu)) }},
		{"Memory, MB", func(samples []sample) string { return fmt.Sprintf("%.0f", median(samples, memory)/1e6) }},
	}
}

// longColumns returns the additional columns of a long load.
func longColumns() []column {
	return []column{
		{"Lowest second", func(samples []sample) string { return fmt.Sprintf("%.2f", median(samples, lowest)) }},
		{"Longest pause, ms", func(samples []sample) string { return fmt.Sprintf("%.0f", greatest(samples, paused)) }},
		{"Start after kill -9, ms", func(samples []sample) string {
			if longest := greatest(samples, restarted); longest > 0 {
				return fmt.Sprintf("%.0f", longest)
			}
			return "-"
		}},
	}
}

// writeGroup writes the table of a group.
func writeGroup(d *strings.Builder, m measured) {
	all := columns()
	if m.contenders[0].load.long {
		all = append(all, longColumns()...)
	}
	fmt.Fprintf(d, "\n### %s\n\n| Program |", title(m.name))
	for _, c := range all {
		fmt.Fprintf(d, " %s |", c.title)
	}
	d.WriteString("\n" + strings.Repeat("|---", len(all)+1) + "|\n")
	for i, samples := range m.samples {
		fmt.Fprintf(d, "| %s |", m.label(i))
		for _, c := range all {
			fmt.Fprintf(d, " %s |", c.cell(samples))
		}
		d.WriteString("\n")
	}
}

// title returns s with its first letter, which is ASCII, in upper case.
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
