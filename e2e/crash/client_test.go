package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/storage/bbolt/journal"
)

const writers = 16

// journals are the sizes of the journal that the tests run with. With the smallest one
// the server is in a checkpoint most of the time.
func journals() map[string]string {
	return map[string]string{
		"usual journal":    "",
		"smallest journal": fmt.Sprint("JOURNAL_BYTES=", journal.MinSize),
		"no journal":       "JOURNAL_BYTES=0",
	}
}

// A site is a server, always in the same directory, with the plants that it acknowledged.
type site struct {
	t      testing.TB
	env    []string
	server *plantstore.Server
	token  string
	random *rand.Rand
	rounds int

	mu           sync.Mutex
	acknowledged []string // bodies
}

// newSite starts a server in the directory dir, with these variables unless they are empty.
func newSite(t testing.TB, dir string, env ...string) *site {
	t.Helper()
	s := &site{
		t: t, random: newRandom(t), env: slices.DeleteFunc(env, func(v string) bool { return v == "" }),
	}
	s.server = plantstore.Start(t, plantstore.Options{Dir: dir, Env: s.env})
	s.token = s.server.Token("--ttl", "0")
	return s
}

// restart starts the server again.
func (s *site) restart() {
	s.t.Helper()
	s.server = plantstore.Start(s.t, plantstore.Options{Dir: s.server.Dir, Env: s.env})
}

// interrupt runs writers that create plants until end, which it calls at a random moment, stops
// the server. It returns when all writers have their last responses.
func (s *site) interrupt(end func()) {
	s.t.Helper()
	s.rounds++
	enough, delay := 1+s.random.Int64N(100), time.Duration(s.random.IntN(4000))*time.Microsecond
	moment, done := make(chan struct{}), make(chan struct{})
	var created atomic.Int64
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := 0; s.create(s.body(w, n)); n++ {
				if created.Add(1) == enough {
					close(moment)
				}
			}
		})
	}
	go func() { all.Wait(); close(done) }()
	select {
	case <-moment:
	case <-done:
		s.t.Fatal("the writers ended before the interruption")
	}
	time.Sleep(delay) // a random moment
	end()
	<-done
}

// body returns the NewPlant that writer w sends as its nth in this round. The ids
// are of all sizes and both signs, the plants smaller and larger than a page.
func (s *site) body(w, n int) string {
	id := int64(s.rounds%16-8)<<60 | int64(s.rounds)<<30 | int64(w)<<20 | int64(n)
	name := strings.Repeat("long", n%7*w*20)
	return fmt.Sprintf(`{"id":%d,"name":"%s %d of writer %d","tag":"round %d"}`, id, name, n, w, s.rounds)
}

// create sends a plant, records it if it is acknowledged, and reports that. Other responses must
// follow the contract.
func (s *site) create(body string) bool {
	a, err := s.server.TryPost(s.token, body)
	switch {
	case err != nil: // the server has exited
		return false
	case a.Status == http.StatusOK:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.acknowledged = append(s.acknowledged, body)
		return true
	case a.Status != http.StatusBadRequest || a.Code != http.StatusInternalServerError && a.Code != http.StatusServiceUnavailable:
		s.t.Errorf("%.60s: status %d, %+v", body, a.Status, a.Error)
	}
	return false
}

// verify resends each acknowledged plant, from the given one on: the response must be that
// its id is taken by an identical plant (C5.26). Then the server must create a new one.
func (s *site) verify(from int) {
	s.t.Helper()
	bodies := make(chan string, len(s.acknowledged))
	for _, body := range s.acknowledged[from:] {
		bodies <- body
	}
	close(bodies)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for body := range bodies {
				if a, err := s.server.TryPost(s.token, body); err != nil || !a.Identical() {
					s.t.Errorf("round %d: %.60s was acknowledged; now: status %d, %+v, %v", s.rounds, body, a.Status, a.Error, err)
				}
			}
		})
	}
	all.Wait()
	if !s.create(s.body(writers, from)) {
		s.t.Errorf("round %d: the server refuses a new plant", s.rounds)
	}
}

// check stops the server and runs plantstore check on its files.
func (s *site) check() {
	s.t.Helper()
	s.server.Stop()
	if out, err := plantstore.Command(s.t, s.server.Dir, nil, "check").CombinedOutput(); err != nil {
		s.t.Errorf("round %d: plantstore check: %v\n%s", s.rounds, err, out)
	}
}
