package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// preface stands at the head of the document.
const preface = `# Benchmarks

Written by ` + "`make bench`" + `; all figures are of one run. What counts are the ratios, which are medians over the rounds
of the ratio within each round: client and servers share the processors, and whatever else runs on the machine.

` + "```sh" + `
make bench                                             # everything
make bench BENCH_ARGS="-only '^ascending ids, c=64'"   # one load only; -help lists what can be set
` + "```" + `

| Program | What it is |
|---|---|
| plantstore | this project's server as it is released, with the defaults of all options; its log goes to a file |
| floor | Gin with JWT, binding and validation, as one usually writes it, and no store |
| floor+ | this project's own server, over a store that does nothing |
| naive | floor, with a bbolt transaction for each create |
| SQLite | floor, with GORM and SQLite: WAL, synchronous=FULL |

Each measurement is of a process of its own, on an empty database unless the table says otherwise. The load comes from
wrk with one thread and c connections: creates of ` + "`" + `{"id":…,"name":"Fern","tag":"indoor"}` + "`" + `, each with an id of its own,
with one token or, round robin, many. CPU is what /proc says of the server, user and system, for each
create; Start is from the start of the process to its first answer; Others is the share of all processors that went to neither the server nor wrk, and so how far the speed
was disturbed: where it is more than 10 %, the measurement is made again, up to the tries that are stated, and the
calmest one counts, however fast it was.

Two loads are repeated with the database on a file system in memory ("no disk"), where a sync costs nothing: what is
missing there is the server's doing, and the rest is what it costs to sync on this machine. A commit has two syncs.

The stores that are not empty are filled through the group commit of the engine, in the order of the load, by 256
clients at once, or 4,096 for scattered ids: their pages are as full as creates leave them.
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
	fmt.Fprintf(&d, "| Measured | %d rounds of %v, after a warm-up of %v, in at most %d tries |\n", s.rounds, s.duration, s.warmUp, s.tries)
	fmt.Fprintf(&d, "\n## Targets\n\n| Figure | Wanted | Measured | |\n|---|---|---|---|\n")
	for _, t := range targets(r) {
		fmt.Fprintf(&d, "| %s | %s | %s | %s |\n", t.figure, t.want(), t.got(), t.verdict())
	}
	fmt.Fprintf(&d, "\nAllocations for each create: %d in the first version, %.0f now.\n", firstAllocations, r.allocations)
	d.WriteString("\n## All figures\n\nMedians over the rounds; in brackets the least and the most.\n")
	for _, m := range slices.Concat(r.groups, r.stored) {
		writeGroup(&d, m)
	}
	if r.sequential != nil {
		d.WriteString("\n### Files\n\n| Store | Bytes for each plant |\n|---|---|\n")
		for _, s := range []*store{r.sequential, r.random} {
			fmt.Fprintf(&d, "| %s | %.1f |\n", s.name, float64(s.bytes)/float64(s.plants))
		}
	}
	return d.String()
}

// writeGroup writes the table of a group.
func writeGroup(d *strings.Builder, m measured) {
	fmt.Fprintf(d, "\n### %s\n\n| Program | Creates/s | p50 | p99 | CPU | Start | Not 200 | Others |\n|---|---|---|---|---|---|---|---|\n", title(m.name))
	for i, c := range m.contenders {
		samples := m.samples[i]
		low, high := samples[0].throughput, samples[0].throughput
		var bad int64
		for _, s := range samples {
			low, high, bad = min(low, s.throughput), max(high, s.throughput), bad+s.bad
		}
		fmt.Fprintf(d, "| %v | %.0f (%.0f to %.0f) | %.2f ms | %.2f ms | %.1f µs | %.0f ms | %d | %.0f %% |\n", c,
			median(samples, throughput), low, high, median(samples, p50)/1000, median(samples, p99)/1000,
			median(samples, cpu), median(samples, started), bad, 100*median(samples, others))
	}
}

// title returns s with its first letter, which is ASCII, in upper case.
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
