package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
)

const (
	writers = 16
	// secret signs the tokens of all replicas.
	secret = "a secret of the tests, long enough for HS256"
)

// A site is several replicas on one store, and the history of requests.
type site struct {
	t        testing.TB
	url      string // storage URL
	replicas []*plantstore.Server
	token    string
	client   *http.Client
	epoch    time.Time

	mu      sync.Mutex
	history []operation
	created atomic.Int64
}

// An operation is one create and its outcome.
type operation struct {
	id          int64
	plant       string
	own         bool // the first create of an id that no other client uses
	outcome     outcome
	response    string
	start, stop time.Duration // times since the epoch of the site
}

// An outcome is what a client concludes from a response.
type outcome = load.Outcome

// The outcomes.
const (
	created   = load.Created
	identical = load.Identical
	different = load.Different
	refused   = load.Refused
	unknown   = load.Unknown
	wrong     = load.Wrong
)

// newSite starts n replicas on the store at url.
func newSite(t testing.TB, url string, n int) *site {
	t.Helper()
	s := &site{
		t: t, url: url, epoch: time.Now(),
		client: plantstore.NewClient(t),
	}
	for range n {
		s.replicas = append(s.replicas, s.start())
	}
	s.token = s.replicas[0].Token("--ttl", "0")
	return s
}

func (s *site) start() *plantstore.Server {
	s.t.Helper()
	return plantstore.Start(s.t, plantstore.Options{Env: []string{
		"STORAGE_URL=" + s.url, "JWT_SECRET=" + secret, "LOG_LEVEL=error", "SHUTDOWN_TIMEOUT=30s",
	}})
}

// replace kills a replica and starts another one in its place.
func (s *site) replace(n int) {
	s.t.Helper()
	s.replicas[n].Kill()
	fresh := s.start()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas[n] = fresh
}

// post sends a create to a replica.
func (s *site) post(replica int, id int64, plant string) (outcome, string) {
	s.mu.Lock()
	url := s.replicas[replica%len(s.replicas)].BaseURL
	s.mu.Unlock()
	reply, err := plantstore.Post(s.t.Context(), s.client, url, s.token, fmt.Sprintf(`{"id":%d,"name":%q}`, id, plant))
	r := load.Response{Reply: reply, Err: err}
	return r.Outcome(), r.String()
}

// create posts a create, and records the operation.
func (s *site) create(replica int, id int64, plant string, own bool) outcome {
	o := operation{id: id, plant: plant, own: own, start: time.Since(s.epoch)}
	o.outcome, o.response = s.post(replica, id, plant)
	o.stop = time.Since(s.epoch)
	if o.outcome == created {
		s.created.Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, o)
	return o.outcome
}

// load lets writers create plants through all replicas until stop is called, which waits for
// their last responses. One in four creates of each writer is of an id that the others create,
// too.
func (s *site) load() (stop func()) {
	var ended atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		load.Each(writers, writers, func(w int) {
			for n := 0; !ended.Load(); n++ {
				id, own := 1<<40|int64(w)<<28|int64(n), true
				if n%4 == 3 {
					id, own = -(1<<40 | int64(n)), false
				}
				if s.create(w+n, id, fmt.Sprintf("plant %d of writer %d", n, w), own) >= refused {
					time.Sleep(time.Millisecond) // a replica that has exited refuses at once
				}
			}
		})
	})
	return func() {
		ended.Store(true)
		all.Wait()
	}
}

// await waits until n more plants have been created.
func (s *site) await(n int64) {
	s.t.Helper()
	want := s.created.Load() + n
	for end := time.Now().Add(process.Patience); s.created.Load() < want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%d plants were not created within %v", n, process.Patience)
		}
	}
}

// verify creates all plants again, also refused and ambiguous ones, and then checks the
// history: no acknowledged plant is lost, no id has two owners, and no client got an error
// for its own plant (C5.26-28).
func (s *site) verify() {
	s.t.Helper()
	s.client.CloseIdleConnections()
	sent, counts := slices.Clone(s.history), map[outcome]int{}
	load.Each(len(sent), writers, func(i int) {
		if o := sent[i]; o.outcome == created || o.outcome == unknown || o.outcome == refused {
			s.create(i, o.id, o.plant, false)
		}
	})
	for _, o := range sent {
		counts[o.outcome]++
	}
	checkResponses(s.t, s.history)
	checkLinearizable(s.t, s.history)
	s.t.Logf("%d creates: %d created, %d identical, %d different, %d refused, %d unknown",
		len(sent), counts[created], counts[identical], counts[different], counts[refused], counts[unknown])
}

// checkResponses checks each response.
func checkResponses(t testing.TB, history []operation) {
	t.Helper()
	bad := slices.DeleteFunc(slices.Clone(history), func(o operation) bool {
		doubled := o.own && (o.outcome == identical || o.outcome == different)
		return o.outcome != wrong && !doubled
	})
	for _, o := range bad[:min(len(bad), 10)] { // the first ones are enough
		t.Errorf("id %d, %s, alone: %v: %s", o.id, o.plant, o.own, o.response)
	}
}
