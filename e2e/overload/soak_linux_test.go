package overload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

const (
	soakClients = 64
	// Shares of the requests, in thousandths: taken ids, invalid plants, random ids, and plants
	// of 64 KiB. The others are small plants in ascending order.
	soakTaken, soakWrong, soakScattered, soakLarge = 100, 100, 200, 1
	largeName                                      = 64 << 10
)

// A soak is a group of clients that create all kinds of plants for a long time.
type soak struct {
	*site
	end       time.Time
	created   atomic.Int64
	refused   atomic.Int64
	mu        sync.Mutex
	durations []time.Duration // durations of some of the requests since the last sample
}

// A sample is the state of the server at one time.
type sample struct {
	memory, goroutines int64
	files              int64
	database           int64 // its size in bytes
	p99                time.Duration
}

// TestSoak loads a server for five seconds, with TORTURE=1 for an hour, or for the duration in SOAK:
// its resources must not grow after a sixth of that time, except memory with the database, and the
// size of the database must match its plants.
func TestSoak(t *testing.T) { //nolint:paralleltest // the others would be in its figures
	duration := time.Duration(plantstore.Torture(5, 3600)) * time.Second
	if text := os.Getenv("SOAK"); text != "" {
		duration = must.Get(time.ParseDuration(text))(t)
	}
	s := &soak{site: newSite(t, goLimit(10_000)), end: time.Now().Add(duration)}
	var clients sync.WaitGroup
	for n := range soakClients {
		clients.Go(func() { s.run(n) })
	}
	samples := s.watch(duration / 60)
	clients.Wait()
	wantFlat(t, samples)
	wantMemory(t, s.server, "VmHWM", memoryBound(10_000))
	s.server.Stop()
	wantSize(t, s.server.Dir, s.created.Load())
	t.Logf("%d plants, %d requests refused, in %v", s.created.Load(), s.refused.Load(), duration)
	second, last := samples[1].p99, samples[len(samples)-1].p99
	t.Logf("p99 at the second of %d samples %v, at the last %v", len(samples), second, last)
	if duration >= time.Hour && last > second*3/2 {
		t.Errorf("p99 rose from %v to %v", second, last)
	}
}

// run is one client.
func (s *soak) run(n int) {
	c, err := s.dial(n)
	if err != nil {
		s.t.Errorf("no connection: %v", err)
		return
	}
	defer func() { _ = c.Close() }()
	random := rand.New(rand.NewPCG(1, uint64(n)))
	base := int64(n) << 40
	for next := int64(0); time.Now().Before(s.end); {
		request, want := s.request(random, base, &next)
		began := time.Now()
		a, err := c.Do(request)
		switch {
		case err != nil:
			s.t.Errorf("client %d: no response: %v", n, err)
			return
		case created(a) && want == http.StatusOK:
			s.created.Add(1)
		case refused(a):
			s.refused.Add(1)
		case a.Status == http.StatusOK || int(a.Code) != want:
			s.t.Errorf("client %d: response %v, want %d", n, a, want)
			return
		}
		if random.IntN(32) == 0 {
			s.mu.Lock()
			s.durations = append(s.durations, time.Since(began))
			s.mu.Unlock()
		}
	}
}

// request returns the next request of a client with ids from base on, and the expected
// error of the response, or 200.
func (s *soak) request(random *rand.Rand, base int64, next *int64) (request string, want int) {
	switch kind := random.IntN(1000); {
	case kind < soakTaken && *next > 0:
		return s.named(base+random.Int64N(*next), "other"), http.StatusConflict
	case kind < soakTaken+soakWrong:
		return plantstore.Create(s.token, `{"id":1.5,"x"}`), http.StatusBadRequest
	case kind < soakTaken+soakWrong+soakScattered:
		return s.create(-1 - random.Int64()), http.StatusOK
	case kind < soakTaken+soakWrong+soakScattered+soakLarge:
		*next++
		return s.named(base+*next-1, strings.Repeat("x", largeName)), http.StatusOK
	}
	*next++
	return s.create(base + *next - 1), http.StatusOK
}

// named returns the request for a plant with that name.
func (s *soak) named(id int64, name string) string {
	return plantstore.Create(s.token, load.Body(id, models.Plant{Name: name}))
}

// watch takes a sample at each interval until the end.
func (s *soak) watch(interval time.Duration) (samples []sample) {
	s.t.Helper()
	for ticks := time.Tick(interval); time.Now().Add(interval / 2).Before(s.end); {
		<-ticks
		info := must.Get(os.Stat(database(s.server.Dir)))(s.t)
		s.mu.Lock()
		durations := slices.Sorted(slices.Values(s.durations))
		s.durations = s.durations[:0]
		s.mu.Unlock()
		metrics := s.server.Metrics()
		now := sample{
			memory: memory(s.t, s.server, "VmRSS"), database: info.Size(),
			files: int64(metrics["process_open_fds"]), goroutines: int64(metrics["go_goroutines"]),
		}
		if len(durations) > 0 {
			now.p99 = durations[len(durations)*99/100]
		}
		samples = append(samples, now)
		if len(samples)%5 == 0 {
			s.t.Logf("%d plants: %d MB, %d files, %d goroutines, p99 %v", s.created.Load(), now.memory/1e6, now.files, now.goroutines, now.p99)
		}
	}
	return samples
}

// growthPerByte is by how many bytes a database grows for one more byte of memory: bbolt has an
// entry of up to 39 bytes for each page in use, of 4 KiB, that it has taken from its list of free pages
// since it was opened, and the heap may grow to three times that.
const growthPerByte = 4096 / (3 * 39)

// wantFlat compares the last quarter of the samples with the samples between the first sixth and
// the half.
func wantFlat(t *testing.T, samples []sample) {
	t.Helper()
	if len(samples) < 12 {
		t.Fatalf("only %d samples", len(samples))
	}
	early, late := samples[len(samples)/6:len(samples)/2], samples[len(samples)*3/4:]
	grown := late[len(late)-1].database - early[len(early)-1].database
	for name, tt := range map[string]struct {
		of    func(sample) int64
		slack int64
	}{
		"bytes of memory": {func(s sample) int64 { return s.memory }, 64<<20 + grown/growthPerByte}, // it varies with the garbage collector
		"open files":      {func(s sample) int64 { return s.files }, 2},
		"goroutines":      {func(s sample) int64 { return s.goroutines }, 4},
	} {
		before, after := most(early, tt.of), most(late, tt.of)
		t.Logf("%s: at most %d, then %d", name, before, after)
		if after > before+tt.slack {
			t.Errorf("%s rose from %d to %d", name, before, after)
		}
	}
}

func most(samples []sample, of func(sample) int64) (n int64) {
	for _, s := range samples {
		n = max(n, of(s))
	}
	return n
}

// database returns the path of the database of a server that was started in dir.
func database(dir string) string { return filepath.Join(dir, "data", "plants.db") }

// wantSize checks that the database has n plants, all of them intact, and that a compact copy is
// hardly smaller: pages with insertions in the middle are at least half full.
func wantSize(t *testing.T, dir string, plants int64) {
	t.Helper()
	path := database(dir)
	size := func(path string) int64 {
		info := must.Get(os.Stat(path))(t)
		return info.Size()
	}
	if got, want := plantstore.Run(t, dir, "plants", "count"), fmt.Sprintln(plants); got != want {
		t.Errorf("the database has %s plants, want %s", got, want)
	}
	plantstore.Run(t, dir, "check")
	compact := filepath.Join(t.TempDir(), "compact.db")
	from := must.Get(bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true}))(t)
	to := must.Get(bolt.Open(compact, 0o600, &bolt.Options{NoSync: true}))(t)
	must.Do(t, errors.Join(bolt.Compact(to, from, 8<<20), from.Close(), to.Close()))
	t.Logf("%d bytes, %d when compact, for %d plants", size(path), size(compact), plants)
	if size(path) > 2*size(compact)+(64<<20) {
		t.Errorf("the database has %d bytes, %d when compact", size(path), size(compact))
	}
}
