package server

import (
	"net/http"
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

// TestOverLimit checks that a connection beyond the limit gets an Error after its header (C1.3,
// C1.6). When another connection closes, its slot is free.
func TestOverLimit(t *testing.T) {
	t.Parallel()
	s := start(t, only(2))
	first, second := s.hold(t), s.hold(t)
	header := host("X-Request-Id: mine")
	for _, text := range []string{header, "", "G", "GET / HTTP/1.1\r\nHost: x\r\n", "\x16\x03", header + strings.Repeat("x", 20<<20)} {
		c := s.dial(t)
		if text == "" {
			c.wantEnd() // a client without a request gets no response
			continue
		}
		c.send(text).closeHalf()
		r := c.wantRefusal(503)
		if !strings.Contains(r.body, "all of its 2 connections") {
			t.Errorf("message %q does not name the reason", r.body)
		}
		if strings.HasPrefix(text, header) && r.Header.Get("X-Request-Id") != "mine" {
			t.Errorf("the header is %v", r.Header)
		}
	}
	if served := s.paths(); len(served) != 2 {
		t.Errorf("served %q", served)
	}
	_ = first.Close()
	s.waitForSlot(t)
	second.send(good).wantEcho(goodEcho())
}

// TestOverLimitHEAD checks that the response to a rejected HEAD has no body.
func TestOverLimitHEAD(t *testing.T) {
	t.Parallel()
	s := start(t, only(1))
	s.hold(t)
	c := s.dial(t).send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
	c.wantOwnHeader(c.reply(http.MethodHead))
	c.wantEnd()
}

// waitForSlot returns when a new connection is served.
func (s *site) waitForSlot(t *testing.T) {
	t.Helper()
	for range 10_000 {
		c := s.dial(t).send(good).closeHalf()
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
	await(t, &s.counters.turnedAway, 1) // otherwise it could get the slot that is released
	waiting := s.dial(t).send(good)
	_ = held[0].Close()
	r := waiting.reply(http.MethodPost)
	if r.StatusCode != http.StatusOK && !strings.Contains(r.body, `"error":503`) {
		t.Errorf("response %q", r.body)
	}
	further.wantRefusal(503)
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

// TestLingeringKeepsSlot checks that a lingering connection keeps its slot.
func TestLingeringKeepsSlot(t *testing.T) {
	t.Parallel()
	s := start(t, only(1), func(s *site, _ *Config) { s.linger = patience })
	c := s.dial(t).send(host("Connection: close"))
	c.wantEcho(echo{http.MethodGet, "/", ""})
	c.wantEnd()
	s.dial(t).send(good).wantRefusal(503)
	_ = c.Close()
	s.waitForSlot(t)
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
	s.wantStopped(t, nil)
}

// TestHeaderLines checks that a header of many lines is refused before memory is allocated for
// them.
func TestHeaderLines(t *testing.T) {
	t.Parallel()
	s := start(t)
	lines := strings.Split(strings.Repeat("X:y,", maxHeaderLines-3)+"X:y", ",") // with the request line and Host
	s.dial(t).send(host(lines...)).wantEcho(echo{http.MethodGet, "/", ""})
	c := s.dial(t).send(host(append(lines, "X:y")...))
	if r := c.wantRefusal(431); !strings.Contains(r.body, "128 lines") {
		t.Errorf("message %q does not name the limit", r.body)
	}
}
