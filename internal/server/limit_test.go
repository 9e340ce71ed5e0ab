package server

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// only limits the connections of the site.
func only(connections int) func(*site, *Config) {
	return func(_ *site, config *Config) { config.MaxConnections = connections }
}

// hold opens a connection and sends a request on it.
func (s *site) hold(t *testing.T) *client {
	t.Helper()
	c := s.dial(t).send(good)
	c.wantEcho(goodEcho())
	return c
}

// TestOverLimit checks that a connection beyond the limit gets an Error after its header (C1.3). When
// another connection closes, its slot is free.
func TestOverLimit(t *testing.T) {
	t.Parallel()
	s := start(t, only(2))
	first, second := s.hold(t), s.hold(t)
	for _, text := range []string{host(), sized("/", strings.Repeat("x", 20<<20)), post("/", "", "Content-Length: 2")} {
		if r := s.dial(t).send(text).wantRefusal(503); !strings.Contains(r.body, "MAX_CONNECTIONS") {
			t.Errorf("message %q does not name the reason", r.body)
		}
	}
	if served := s.paths(); len(served) != 2 {
		t.Errorf("served %q", served)
	}
	_ = first.Close()
	s.waitForSlot(t)
	second.send(good).wantEcho(goodEcho())
}

// waitForSlot returns when a new connection is served.
func (s *site) waitForSlot(t *testing.T) {
	t.Helper()
	for range 10_000 {
		c := s.dial(t).send(good)
		r := c.reply(http.MethodPost)
		_ = c.Close()
		if r.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatal("no slot was released")
}

// TestOverLimitWaits checks that if the extra slots are in use as well, a connection waits for
// a slot.
func TestOverLimitWaits(t *testing.T) {
	t.Parallel()
	s := start(t, only(8)) // one beyond the extra slots
	held := make([]*client, 8)
	for i := range held {
		held[i] = s.hold(t)
	}
	further := s.dial(t).send("G")
	for s.Stats().TurnedAway == 0 { // otherwise it could get the slot that is released
		runtime.Gosched()
	}
	waiting := s.dial(t).send(good)
	_ = held[0].Close()
	r := waiting.reply(http.MethodPost)
	if r.StatusCode != http.StatusOK && !strings.Contains(r.body, `"error":503`) {
		t.Errorf("response %q", r.body)
	}
	further.send("ET / HTTP/1.1\r\nHost: x\r\n\r\n").wantRefusal(503)
}

// TestSlotsAreReleased checks that every connection releases its slot, however it ends.
func TestSlotsAreReleased(t *testing.T) {
	t.Parallel()
	s := start(t, only(1))
	for _, text := range []string{
		"", good, host("Connection: close"), sized("/early", "hi"), "nonsense\r\n\r\n",
		"GET /panic HTTP/1.1\r\nHost: x\r\n\r\n", "GET /abort HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		c := s.dial(t).send(text)
		if text != "" {
			_, _ = c.Read(make([]byte, 1)) // some of them get no response
		}
		_ = c.Close()
		s.waitForSlot(t)
	}
}

// TestStats checks that connections, and those beyond the limit, are counted.
func TestStats(t *testing.T) {
	t.Parallel()
	s := start(t, only(1))
	if got := s.Stats(); got != (Stats{Limit: 1}) {
		t.Errorf("at first: %+v", got)
	}
	s.hold(t)
	s.dial(t).send(good).wantRefusal(503)
	if got := s.Stats(); got != (Stats{Open: 1, Limit: 1, Accepted: 2, TurnedAway: 1}) {
		t.Errorf("with a rejected connection: %+v", got)
	}
}

// TestShutdownWhileOverLimit checks that connections beyond the limit do not delay the
// shutdown.
func TestShutdownWhileOverLimit(t *testing.T) {
	t.Parallel()
	s := start(t, only(1))
	s.hold(t)
	for range 3 {
		s.dial(t).send("GET / HT")
	}
	s.wantStopped(t)
}
