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

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
)

const writers = 16

// A site is a server, always in the same directory, with the plants that it acknowledged.
type site struct {
	t      testing.TB
	server *plantstore.Server
	token  string
	random *rand.Rand
	rounds int

	mu           sync.Mutex
	acknowledged []string // bodies
}

// newSite starts a server in the directory dir.
func newSite(t testing.TB, dir string) *site {
	t.Helper()
	s := &site{t: t, random: newRandom(t), server: plantstore.Start(t, plantstore.Options{Dir: dir})}
	s.token = s.server.Token("--ttl", "0")
	return s
}

// restart starts the server again.
func (s *site) restart() {
	s.t.Helper()
	s.server = plantstore.Start(s.t, plantstore.Options{Dir: s.server.Dir})
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

// check stops the server and runs plantstore check.
func (s *site) check() {
	s.t.Helper()
	s.server.Stop()
	wantCommand(s.t, s.server.Dir, 0, "", "check")
}

// wantEnd waits for the server to exit with that code, and checks that it logs one of the reasons.
func (s *site) wantEnd(code int, want ...string) {
	s.t.Helper()
	defer s.server.Kill() // it has exited as expected
	select {
	case <-s.server.Exited():
	case <-time.After(patience):
		s.t.Fatalf("the server still runs after %v", patience)
	}
	last := lastLine(s.server.Log())
	logged := func(reason string) bool { return strings.Contains(last, reason) }
	if s.server.ExitCode() != code || !strings.HasPrefix(last, "plantstore: ") || !slices.ContainsFunc(want, logged) {
		s.t.Errorf("exit code %d, last line %q, want %d and %q", s.server.ExitCode(), last, code, want)
	}
}

// wantCommand runs the program in the directory dir. It must exit with that code, and with that text
// in the last line.
func wantCommand(t testing.TB, dir string, code int, text string, args ...string) {
	t.Helper()
	got, stderr := runIn(t, dir, args...)
	last := lastLine(stderr)
	if got != code || strings.HasPrefix(last, "plantstore: ") != (code != 0) || !strings.Contains(last, text) || strings.Contains(stderr, ".tmp") {
		t.Errorf("plantstore %q: exit code %d, want %d and %q:\n%s", args, got, code, text, stderr)
	}
}

// runIn runs the program in the directory dir, and returns its exit code and stderr.
func runIn(t testing.TB, dir string, args ...string) (code int, stderr string) {
	t.Helper()
	var text strings.Builder
	cmd := plantstore.Command(t, dir, []string{"ADDR=127.0.0.1:0"}, args...)
	cmd.Stderr = &text
	must.Do(t, cmd.Start())
	watchdog := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer watchdog.Stop()
	_ = cmd.Wait() // the exit code is returned
	return cmd.ProcessState.ExitCode(), text.String()
}

func lastLine(log string) string {
	lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	return lines[len(lines)-1]
}
