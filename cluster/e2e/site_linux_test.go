package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// An outcome is the conclusion of a client from a response.
type outcome int

// The outcomes.
const (
	created   outcome = iota
	identical         // taken by an identical plant
	different         // taken by a different plant
	refused           // not stored
	unknown           // stored or not
	wrong             // a response that violates the contract
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
	r, err := plantstore.Post(s.t.Context(), s.client, url, s.token, fmt.Sprintf(`{"id":%d,"name":%q}`, id, plant))
	if err != nil {
		return unknown, err.Error()
	}
	return classify(r), fmt.Sprintf("status %d, error %d: %s", r.Status, r.Code, r.Message)
}

// classify returns the claim of a response.
func classify(r plantstore.Reply) outcome {
	switch {
	case r.Status == http.StatusOK:
		return created
	case r.Status != http.StatusBadRequest:
		return wrong
	case r.Identical():
		return identical
	case r.Code == http.StatusConflict && strings.Contains(r.Message, "is different"):
		return different
	case strings.Contains(r.Message, "was not stored"):
		return refused
	case r.Code == http.StatusInternalServerError && strings.Contains(r.Message, "the outcome is unknown"):
		return unknown
	}
	return wrong
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
	var all sync.WaitGroup
	var ended atomic.Bool
	for w := range writers {
		all.Go(func() {
			for n := 0; !ended.Load(); n++ {
				id, own := 1<<40|int64(w)<<28|int64(n), true
				if n%4 == 3 {
					id, own = -(1<<40 | int64(n)), false
				}
				if s.create(w+n, id, fmt.Sprintf("plant %d of writer %d", n, w), own) == unknown {
					time.Sleep(time.Millisecond) // a replica that has exited refuses at once
				}
			}
		})
	}
	return func() {
		ended.Store(true)
		all.Wait()
	}
}

// await waits until n more plants have been created.
func (s *site) await(n int64) {
	s.t.Helper()
	want := s.created.Load() + n
	for end := time.Now().Add(process.Patience); s.created.Load() < want; {
		if time.Now().After(end) {
			s.t.Fatalf("%d plants were not created within %v", n, process.Patience)
		}
		time.Sleep(time.Millisecond) // state of other processes
	}
}

// verify creates all plants again, also refused and ambiguous ones, and then checks the
// history: no acknowledged plant is lost, no id has two owners, and no client got an error
// for its own plant (C5.26-28).
func (s *site) verify() {
	s.t.Helper()
	s.client.CloseIdleConnections()
	sent := slices.Clone(s.history)
	next := make(chan operation)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for o := range next {
				s.create(w+int(o.stop), o.id, o.plant, false)
			}
		})
	}
	counts := map[outcome]int{}
	for _, o := range sent {
		counts[o.outcome]++
		if o.outcome == created || o.outcome == unknown || o.outcome == refused {
			next <- o
		}
	}
	close(next)
	all.Wait()
	checkResponses(s.t, s.history)
	checkLinearizable(s.t, s.history)
	s.t.Logf("%d creates: %d created, %d identical, %d different, %d refused, %d unknown",
		len(sent), counts[created], counts[identical], counts[different], counts[refused], counts[unknown])
}

// checkResponses checks each response.
func checkResponses(t testing.TB, history []operation) {
	t.Helper()
	bad := 0
	for _, o := range history {
		doubled := o.own && (o.outcome == identical || o.outcome == different)
		if o.outcome != wrong && !doubled {
			continue
		}
		if bad++; bad > 10 {
			return // the first ones are enough
		}
		t.Errorf("id %d, %s, alone: %v: %s", o.id, o.plant, o.own, o.response)
	}
}
