package operate

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
)

// writePlants writes a file with n plants, the ids from 0 on.
func writePlants(t testing.TB, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "plants.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	for id := range n {
		fmt.Fprintf(out, "{\"id\":%d,\"name\":\"Echeveria, number %d of the bulk\",\"tag\":\"succulent\"}\n", id, id)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a command of the program in the server's directory; it must succeed.
func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := plantstore.Command(t, dir, nil, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("plantstore %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// BenchmarkExportDuringCreates measures the creates of 32 clients, alone and while a million
// plants are exported through the socket. The two alternate, so that the conditions are the
// same.
func BenchmarkExportDuringCreates(b *testing.B) {
	const plants = 1_000_000
	server := plantstore.Start(b, plantstore.Options{Env: []string{"LOG_LEVEL=error"}})
	run(b, server.Dir, "plants", "import", "--quiet", writePlants(b, plants))
	l := startLoad(b, server, plants, false)
	var alone, exporting rate
	for b.Loop() {
		before := l.created.Load()
		start := time.Now()
		run(b, server.Dir, "plants", "export", "--quiet", "out.jsonl")
		took := time.Since(start)
		exporting.add(l.created.Load()-before, took)

		before = l.created.Load()
		pause := time.NewTimer(took)
		<-pause.C
		alone.add(l.created.Load()-before, took)
	}
	l.end()
	b.ReportMetric(alone.perSecond(), "creates/s-alone")
	b.ReportMetric(exporting.perSecond(), "creates/s-exporting")
	b.ReportMetric(100*exporting.perSecond()/alone.perSecond(), "%-of-alone")
}

// A rate is a number of creates in a time.
type rate struct {
	created int64
	took    time.Duration
}

func (r *rate) add(created int64, took time.Duration) {
	r.created += created
	r.took += took
}

func (r *rate) perSecond() float64 { return float64(r.created) / r.took.Seconds() }
