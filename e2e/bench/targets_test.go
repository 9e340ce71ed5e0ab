package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

// samplesOf returns one sample for each throughput; what is small of it is good.
func samplesOf(throughputs ...float64) []sample {
	samples := make([]sample, len(throughputs))
	for i, v := range throughputs {
		samples[i] = sample{throughput: v, p50: 1e6 / v, p99: 2e6 / v, cpu: 1e6 / v, start: time.Second}
	}
	return samples
}

// made returns results in which only the loads with 64 clients were measured.
func made() *results {
	r := &results{
		allocations: 20,
		sequential:  &store{plants: 100, bytes: 7001},
		stored: []measured{{
			storedPlan(nil, nil)[0],
			[][]sample{storedEmpty: samplesOf(100, 200), storedSequential: samplesOf(95, 190), storedRandom: samplesOf(10, 20)},
		}},
	}
	for _, g := range plan() {
		if g.name == "ascending ids, c=64" {
			// In the middle round all are disturbed, but the ratios stay.
			r.groups = append(r.groups, measured{g, [][]sample{
				samplesOf(900, 90, 1000), samplesOf(1000, 100, 1000), samplesOf(1000, 100, 1000), samplesOf(100, 10, 100), samplesOf(200, 20, 200),
			}})
		}
		if g.name == logName(64) {
			r.groups = append(r.groups, measured{g, [][]sample{
				logNone: samplesOf(100, 1000), logAccess: samplesOf(94, 940), logAudit: samplesOf(96, 960),
			}})
		}
	}
	return r
}

func TestTargets(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"throughput / naive, c=64":                            "9.00 ok",
		"throughput / naive, c=256":                           "- not measured",
		"throughput / floor, c=64":                            "0.90 ok",
		"throughput / floor+, c=64":                           "0.90 ok",
		"server CPU for each create / floor, c=64":            "1.11 missed",
		"latency p50 / naive, c=1":                            "- not measured",
		"latency p99 / naive, c=64":                           "0.11 ok",
		"throughput / SQLite, c=64":                           "4.50 missed",
		"throughput with access log / without, c=64":          "0.94 missed",
		"throughput with audit log / without, c=64":           "0.96 ok",
		"throughput with audit log / without, c=256":          "- not measured",
		"throughput with ascending ids stored / empty, c=64":  "0.95 ok",
		"throughput with scattered ids stored / empty, c=64":  "0.10 missed",
		"throughput with scattered ids stored / empty, c=256": "- not measured",
		"bytes for each plant of ascending ids":               "70.0 missed",
		"start with ascending ids stored, ms":                 "1000 ok",
		"requests not answered with 200":                      "0 ok",
		"share of the machine that others used":               "0.00 ok",
	}
	got := map[string]string{}
	for _, target := range targets(made()) {
		got[target.figure] = target.got() + " " + target.verdict()
	}
	for figure, w := range want {
		if got[figure] != w {
			t.Errorf("%s: %q, want %q", figure, got[figure], w)
		}
	}
}

// One request that is not answered with 200 is told, and so is a machine that is
// busy with other things.
func TestWhatSpoilsARunIsTold(t *testing.T) {
	t.Parallel()
	r := made()
	r.groups[0].samples[4][2].bad = 1
	for _, m := range append(r.groups, r.stored...) {
		for _, samples := range m.samples {
			for i := range samples {
				samples[i].others = 0.5
			}
		}
	}
	lines := strings.Split(strings.TrimSpace(tableOfTargets(targets(r))), "\n")
	for _, line := range lines[len(lines)-2:] {
		if !strings.HasSuffix(line, "missed") {
			t.Errorf("%s", line)
		}
	}
	if r.groups, r.stored = nil, nil; r.bad() != 0 || !math.IsNaN(r.against(load{}, naiveName, cpu)) {
		t.Error("nothing was measured")
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	if got := median(samplesOf(4, 1, 2), throughput); got != 2 {
		t.Errorf("of three: %v, want 2", got)
	}
	if got := median(samplesOf(4, 1, 2, 3), throughput); got != 2.5 {
		t.Errorf("of four: %v, want 2.5", got)
	}
}
