package overload

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/plantstore"
)

const (
	warmup = time.Second
	period = 5 * time.Second
)

// newLoad starts a server.
func newLoad(b *testing.B, env ...string) *load {
	b.Helper()
	env = append(env, "LOG_LEVEL=error", "JWT_SECRET=overload-overload-overload-overload")
	l := &load{b: b, server: plantstore.Start(b, plantstore.Options{Env: env})}
	l.token = l.server.Token("--ttl", "0")
	b.Cleanup(func() {
		for _, c := range l.kept {
			_ = c.Close()
		}
	})
	return l
}

// BenchmarkSlowDisk has clients send at the rate that a slow disk sustains, and
// at ten times that rate, in an open loop. The disk is the bottleneck, and the excess is
// refused.
func BenchmarkSlowDisk(b *testing.B) {
	const connections = 100
	for range b.N {
		fs := faultfs.Mount(b)
		l := newLoad(b, "STORAGE_URL=bbolt:"+fs.Dir+"/data/plants.db", fmt.Sprint("MAX_CONNECTIONS=", connections))
		fs.SetFault(func(op faultfs.Op) syscall.Errno {
			if op.IsSync() {
				time.Sleep(100 * time.Millisecond)
			}
			return 0
		})
		l.closed(connections, warmup)
		peak := l.closed(connections, period)
		once, _ := l.open(peak, period)
		ten, refusals := l.open(10*peak, period)
		fs.SetFault(nil)
		b.ReportMetric(peak, "peak/s")
		b.ReportMetric(once, "goodput-1x/s")
		b.ReportMetric(ten, "goodput-10x/s")
		b.ReportMetric(ten/peak, "10x/peak")
		b.ReportMetric(float64(len(refusals))/period.Seconds(), "refusals/s")
		b.ReportMetric(percentile(refusals, 0.5), "refusal-p50-ms")
		b.ReportMetric(percentile(refusals, 0.99), "refusal-p99-ms")
		b.ReportMetric(peakMemory(b, l.server), "memory-MB")
	}
}

// BenchmarkProcessors has ten times the clients that keep the processors busy, each of which
// sends its next request when it has its response (a closed loop): they are served more slowly,
// and none is refused. The loads alternate, and the results are medians.
func BenchmarkProcessors(b *testing.B) {
	const clients, rounds = 256, 5
	for range b.N {
		l := newLoad(b)
		l.closed(10*clients, warmup)
		var once, ten, ratio, cpu1, cpu10 [rounds]float64
		for r := range rounds {
			once[r], cpu1[r] = l.measure(clients)
			ten[r], cpu10[r] = l.measure(10 * clients)
			ratio[r] = ten[r] / once[r]
		}
		b.ReportMetric(median(once[:]), "goodput-1x/s")
		b.ReportMetric(median(ten[:]), "goodput-10x/s")
		b.ReportMetric(median(ratio[:]), "10x/1x")
		b.ReportMetric(median(cpu1[:]), "cpu-us-1x")
		b.ReportMetric(median(cpu10[:]), "cpu-us-10x")
		b.ReportMetric(peakMemory(b, l.server), "memory-MB")
	}
}

// measure runs a closed loop for a turn. It also returns the processor time of the server for
// each plant, in microseconds.
func (l *load) measure(clients int) (goodput, cpuEach float64) {
	const turn = time.Second
	before, start := cpu(l.b, l.server), time.Now()
	goodput = l.closed(clients, turn)
	return goodput, (cpu(l.b, l.server) - before) / (goodput * time.Since(start).Seconds())
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
