package overload

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// A soak is a group of clients that create all kinds of plants for a long time.
type soak struct {
	*site

	end     time.Time
	created atomic.Int64
}

// TestSoak loads a server for five seconds, with TORTURE=1 for an hour, or for the duration in SOAK:
// its resources must not grow after a sixth of that time, except memory with the database.
func TestSoak(t *testing.T) { //nolint:paralleltest // the others would be in its figures
	const clients = 64
	duration := time.Duration(plantstore.Torture(5, 3600)) * time.Second
	if text := os.Getenv("SOAK"); text != "" {
		duration = must.Get(time.ParseDuration(text))(t)
	}
	s := &soak{site: newSite(t, goLimit(10_000)), end: time.Now().Add(duration)}
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() { s.on(n, func(c *plantstore.Conn) { s.run(n, c) }) })
	}
	samples := s.watch(duration / 60)
	all.Wait()
	wantFlat(t, samples)
	wantMemory(t, s.Server, "VmHWM", memoryBound(10_000))
	s.Server.Stop()
	wantIntact(t, s.Server.Dir, s.created.Load())
	t.Logf("%d plants in %v", s.created.Load(), duration)
}

// run is one client.
func (s *soak) run(n int, c *plantstore.Conn) {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	base := int64(n) << 40
	for next := int64(0); time.Now().Before(s.end); {
		request, want := s.request(random, base, &next)
		a, err := c.Do(request)
		switch {
		case err != nil:
			s.t.Errorf("client %d: no response: %v", n, err)
			return
		case created(a) && want == http.StatusOK:
			s.created.Add(1)
		case !refused(a) && (created(a) || int(a.Code) != want):
			s.t.Errorf("client %d: response %v, want %d", n, a, want)
			return
		}
	}
}

// request returns the next request of a client with ids from base on, and the expected error of the
// response, or 200: of a thousand requests 100 have taken ids, 100 are invalid, 200 have random ids,
// and one has a plant of 64 KiB. The others are small plants in ascending order.
func (s *soak) request(random *rand.Rand, base int64, next *int64) (request string, want int) {
	named := func(id int64, name string) string {
		return plantstore.Create(s.Token, load.Body(id, models.Plant{Name: name}))
	}
	kind := random.IntN(1000)
	switch {
	case kind < 100 && *next > 0:
		return named(base+random.Int64N(*next), "other"), http.StatusConflict
	case kind < 200:
		return plantstore.Create(s.Token, `{"id":1.5,"x"}`), http.StatusBadRequest
	case kind < 400:
		return s.create(-1 - random.Int64()), http.StatusOK
	}
	id := base + *next
	*next++
	if kind == 400 {
		return named(id, strings.Repeat("x", 64<<10)), http.StatusOK
	}
	return s.create(id), http.StatusOK
}

// A sample is the state of the server at one time, by figure.
type sample map[string]int64

// watch takes a sample at each interval until the end.
func (s *soak) watch(interval time.Duration) (samples []sample) {
	s.t.Helper()
	for ticks := time.Tick(interval); time.Now().Add(interval / 2).Before(s.end); {
		<-ticks
		metrics := s.Server.Metrics()
		samples = append(samples, sample{
			"bytes of memory": memory(s.t, s.Server, "VmRSS"), "bytes of the database": int64(metrics["plantstore_store_size_bytes"]),
			"open files": int64(metrics["process_open_fds"]), "goroutines": int64(metrics["go_goroutines"]),
		})
		if len(samples)%5 == 0 {
			s.t.Logf("%d plants: %v", s.created.Load(), samples[len(samples)-1])
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
	grown := late[len(late)-1]["bytes of the database"] - early[len(early)-1]["bytes of the database"]
	most := func(samples []sample, figure string) (n int64) {
		for _, s := range samples {
			n = max(n, s[figure])
		}
		return n
	}
	for figure, slack := range map[string]int64{
		"bytes of memory": 64<<20 + grown/growthPerByte, // it varies with the garbage collector
		"open files":      2, "goroutines": 4,
	} {
		before, after := most(early, figure), most(late, figure)
		t.Logf("%s: at most %d, then %d", figure, before, after)
		if after > before+slack {
			t.Errorf("%s rose from %d to %d", figure, before, after)
		}
	}
}

// wantIntact checks that the database has n plants, all of them intact.
func wantIntact(t *testing.T, dir string, plants int64) {
	t.Helper()
	if got, want := plantstore.Run(t, dir, "plants", "count"), fmt.Sprintln(plants); got != want {
		t.Errorf("the database has %s plants, want %s", got, want)
	}
	plantstore.Run(t, dir, "check")
}
