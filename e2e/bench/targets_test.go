package main

import (
	"testing"
	"time"
)

// samplesOf returns one sample for each throughput.
func samplesOf(throughputs ...float64) []sample {
	samples := make([]sample, len(throughputs))
	for i, v := range throughputs {
		samples[i] = sample{
			throughput: v, p50: 1e6 / v, p99: 2e6 / v, cpu: 1e6 / v, start: time.Second,
			memory: v * 1e6, lowest: v / 100, pause: time.Duration(v) * time.Millisecond, restart: time.Duration(10*v) * time.Millisecond,
		}
	}
	return samples
}

// made returns results in which only loads with 64 clients were measured.
func made() *results {
	samples := map[string][][]sample{
		// In the middle round all contenders are disturbed, but the ratios stay.
		"ascending ids, c=64": {
			samplesOf(900, 90, 1000), samplesOf(1000, 100, 1000), samplesOf(1000, 100, 1000), samplesOf(100, 10, 100), samplesOf(200, 20, 200),
		},
		chainName:      {chainBare: samplesOf(100, 200), chainOwn: samplesOf(91, 182)},
		ordersName:     {ordersAscending: samplesOf(100, 200), ordersScattered: samplesOf(87, 174)},
		logName(64):    {logNone: samplesOf(100, 1000), logAccess: samplesOf(89, 890)},
		storedName(64): {storedEmpty: samplesOf(100, 200), storedSequential: samplesOf(95, 190)},
		longName(64):   {longEmpty: samplesOf(100, 200, 300), longRandom: samplesOf(60, 120, 260), longNoJournal: samplesOf(50, 151, 250)},
	}
	r := &results{allocations: 46, sequential: &store{plants: 100, bytes: 7001}, random: &store{}}
	for _, g := range plan(r.sequential, r.random) {
		if s, ok := samples[g.name]; ok {
			r.groups = append(r.groups, measured{g, s})
		}
	}
	return r
}

func TestTargets(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"throughput / naive, c=64":                                       "9.00 missed",
		"throughput / naive, c=256":                                      "- not measured",
		"throughput / floor, c=64":                                       "0.90 ok",
		"throughput / floor+, c=64":                                      "0.90 ok",
		"server CPU for each create / floor, c=64":                       "1.11 ok",
		"latency p50 / naive, c=1":                                       "- not measured",
		"latency p99 / naive, c=64":                                      "0.11 ok",
		"throughput / SQLite, c=64":                                      "4.50 missed",
		"throughput / SQLite, c=1":                                       "- not measured",
		"throughput of floor+ / bare, no logs, c=64":                     "0.91 ok",
		"throughput with scattered / ascending ids, empty stores, c=64":  "0.87 missed",
		"throughput with access log / without, c=64":                     "0.89 missed",
		"throughput with access log / without, c=256":                    "- not measured",
		"throughput with ascending ids stored / empty, c=64":             "0.95 ok",
		"throughput with scattered ids stored / empty, long load, c=64":  "0.60 missed",
		"throughput with scattered ids stored / empty, long load, c=256": "- not measured",
		"lowest second / median one, scattered ids stored, c=64":         "1.20 ok",
		"lowest second / median one, scattered ids stored, c=256":        "- not measured",
		"longest pause, ms, scattered ids stored, c=64":                  "260 missed",
		"longest pause, ms, scattered ids stored, c=256":                 "- not measured",
		"memory more than without a journal, MB, c=64":                   "50.0 ok",
		"start after kill -9 under load, longest, ms, c=64":              "2600 missed",
		"bytes for each plant of ascending ids":                          "70.0 missed",
		"start with ascending ids stored, ms":                            "1000 ok",
		"allocations for each create":                                    "46 missed",
		"requests without status 200":                                    "0 ok",
		"share of the machine that others used":                          "0.00 ok",
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

// TestNoMeasurements checks that without any measurement, no target is reached by chance.
func TestNoMeasurements(t *testing.T) {
	t.Parallel()
	for _, target := range targets(&results{}) {
		if v := target.verdict(); v != "not measured" && target.figure != "requests without status 200" {
			t.Errorf("%s: %s, %s", target.figure, target.got(), v)
		}
	}
}
