package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

const writers = 16

// A site is a server, always in the same directory, with the plants that it acknowledged.
type site struct {
	*load.Site

	t      testing.TB
	random *rand.Rand
	rounds int
}

// newSite starts a server in the directory dir.
func newSite(t testing.TB, dir string) *site {
	t.Helper()
	s := &site{Site: load.NewSite(t), t: t, random: newRandom(t)}
	s.Start(plantstore.Options{Dir: dir})
	return s
}

// interrupt runs writers that create plants until end, which it calls at a random moment, stops
// the server. It returns when all writers have their last responses.
func (s *site) interrupt(end func()) {
	s.t.Helper()
	s.rounds++
	enough, delay := 1+s.random.Int64N(100), time.Duration(s.random.IntN(4000))*time.Microsecond
	moment, done := make(chan struct{}), make(chan struct{})
	var created atomic.Int64
	go func() {
		defer close(done)
		load.Each(writers, writers, func(w int) {
			for n := 0; s.create(w, n); n++ {
				if created.Add(1) == enough {
					close(moment)
				}
			}
		})
	}()
	select {
	case <-moment:
	case <-done:
		s.t.Fatal("the writers ended before the interruption")
	}
	time.Sleep(delay) // a random moment
	end()
	<-done
}

// plant returns the plant that writer w sends as its nth in this round. The ids are of all sizes
// and both signs, the plants smaller and larger than a page.
func (s *site) plant(w, n int) (id int64, plant models.Plant) {
	tag := fmt.Sprint("round ", s.rounds)
	name := fmt.Sprintf("%s %d of writer %d", strings.Repeat("long", n%7*w*20), n, w)
	return int64(s.rounds%16-8)<<60 | int64(s.rounds)<<30 | int64(w)<<20 | int64(n), models.Plant{Name: name, Tag: &tag}
}

// create sends that plant, and reports whether it is acknowledged.
func (s *site) create(w, n int) bool { return s.Create(s.plant(w, n)).Status == http.StatusOK }

// verify checks that the acknowledged plants are stored, from the given one on, and that the server
// creates a new one.
func (s *site) verify(from int) {
	s.t.Helper()
	s.Verify(s.t, from)
	if !s.create(writers, from) {
		s.t.Errorf("round %d: the server refuses a new plant", s.rounds)
	}
}

// check stops the server and runs plantstore check.
func (s *site) check() {
	s.t.Helper()
	s.Server.Stop()
	wantCommand(s.t, s.Server.Dir, 0, "", "check")
}

// wantEnd waits for the server to exit with that code, and checks that it logs one of the reasons.
func (s *site) wantEnd(code int, want ...string) {
	s.t.Helper()
	got, last := s.Server.AwaitExit(), lastLine(s.Server.Log())
	logged := func(reason string) bool { return strings.Contains(last, reason) }
	if got != code || !strings.HasPrefix(last, "plantstore: ") || !slices.ContainsFunc(want, logged) {
		s.t.Errorf("exit code %d, last line %q, want %d and %q", got, last, code, want)
	}
}

// wantCommand runs the program in the directory dir. It must exit with that code, and with that text
// in the last line.
func wantCommand(t testing.TB, dir string, code int, text string, args ...string) {
	t.Helper()
	got, out := runIn(t, dir, args...)
	last := lastLine(out)
	if got != code || strings.HasPrefix(last, "plantstore: ") != (code != 0) || !strings.Contains(last, text) || strings.Contains(out, ".tmp") {
		t.Errorf("plantstore %q: exit code %d, want %d and %q:\n%s", args, got, code, text, out)
	}
}

// runIn runs the program in the directory dir, and returns its exit code and its output.
func runIn(t testing.TB, dir string, args ...string) (code int, out string) {
	t.Helper()
	return plantstore.Finish(t, plantstore.Command(t, dir, []string{"ADDR=127.0.0.1:0"}, args...))
}

func lastLine(log string) string {
	lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	return lines[len(lines)-1]
}
