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

Written by ` + "`make bench`" + `; all figures are of one run. Only the ratios matter, since clients and servers share the
processors with whatever else runs on the machine: a ratio is computed within each round, and the table has the median of all rounds.

` + "```sh" + `
make bench                                             # everything
make bench BENCH_ARGS="-only '^ascending ids, c=64'"   # one group only; -help lists what can be set
make bench BENCH_ARGS="-quick -only '^long load'"      # for development: one short round, into .bench/benchmarks.md
` + "```" + `

| Program | What it is |
|---|---|
| plantstore | this project's server as it is released, with the defaults of all options; its log goes to a file |
| floor | a typical server: Gin with JWT, binding and validation, and no store |
| floor+ | this project's own server, over a store that does nothing |
| bare | one Gin route and nothing else: remembers each token that it has verified, decodes and validates as this project does; no store, no log |
| naive | floor, with a bbolt transaction for each create |
| SQLite | floor, with GORM and SQLite: WAL, synchronous=FULL |

Each measurement starts a new process, on an empty database unless the table says otherwise. The load comes from
wrk with one thread and c connections: creates of ` + "`" + `{"id":…,"name":"Fern","tag":"indoor"}` + "`" + `, each with its own id,
with one token or, round robin, many.

| Column | What it is |
|---|---|
| CPU | user and system time of the server for each create, from /proc |
| Memory | most memory of the server, read each 100 ms, without the pages of mapped files |
| Start | from the start of the process to its first response |
| Others | share of the processor time that neither the server nor wrk used: how much the measurement was disturbed |
| Lowest second | creates in the lowest second of the load, as a share of those in the median one |
| Longest pause | longest time in which no client had a response, in any round |
| Start after kill -9 | Start on the files of a server that was killed under load, the longest of all rounds |

A measurement with more than 10 % in Others is repeated, up to the stated number of tries, and the least disturbed one counts,
whatever its speed.

Two loads are repeated with the database on a file system in memory ("no disk"), where a sync costs nothing: the difference to
floor is then the cost of the server, and the difference to the same load on the disk is the cost of syncs on this machine.

The long load lasts for several checkpoints. wrk records when it sends each request, and a client sends its next request when it
has the response to the previous one: so pauses and seconds are as clients see them. Then the server is loaded, killed and
started three times, at different moments between two checkpoints. Its memory is compared with that of a
server without a journal (` + "`" + noJournal + "`" + `) under the same load.

Non-empty stores are filled through the engine, and each measurement uses its own copy. Ids are scattered
over a range of 2^32, and the pages that hold them are 69 % full, as after single creates.
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
		{"p50", func(samples []sample) string { return fmt.Sprintf("%.2f ms", median(samples, p50)/1000) }},
		{"p99", func(samples []sample) string { return fmt.Sprintf("%.2f ms", median(samples, p99)/1000) }},
		{"CPU", func(samples []sample) string { return fmt.Sprintf("%.1f µs", median(samples, cpu)) }},
		{"Memory", func(samples []sample) string { return fmt.Sprintf("%.0f MB", median(samples, memory)/1e6) }},
		{"Start", func(samples []sample) string { return fmt.Sprintf("%.0f ms", median(samples, started)) }},
		{"Not 200", func(samples []sample) string {
			var bad int64
			for _, s := range samples {
				bad += s.bad
			}
			return fmt.Sprint(bad)
		}},
		{"Others", func(samples []sample) string { return fmt.Sprintf("%.0f %%", 100*median(samples, others)) }},
	}
}

// longColumns returns the additional columns of a long load.
func longColumns() []column {
	return []column{
		{"Lowest second", func(samples []sample) string { return fmt.Sprintf("%.2f", median(samples, lowest)) }},
		{"Longest pause", func(samples []sample) string { return fmt.Sprintf("%.0f ms", greatest(samples, paused)) }},
		{"Start after kill -9", func(samples []sample) string {
			if longest := greatest(samples, restarted); longest > 0 {
				return fmt.Sprintf("%.0f ms", longest)
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
