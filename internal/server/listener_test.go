package server

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"testing"
)

// serveAlso makes a site serve ln as well, and returns its address.
func serveAlso(ln net.Listener) (second *site, change func(*site, *Config)) {
	return &site{addr: ln.Addr()}, func(s *site, _ *Config) { s.more = append(s.more, ln) }
}

// TestSeveralListeners checks that the limits and the shutdown are for all listeners together.
func TestSeveralListeners(t *testing.T) {
	t.Parallel()
	ln := listen(t, "tcp", "127.0.0.1:0")
	second, also := serveAlso(ln)
	first := start(t, only(2), also)
	held := []*client{first.hold(t), second.hold(t)}
	for _, s := range []*site{first, second} {
		s.dial(t).send(good).closeHalf().wantRefusal(503)
	}
	first.wantStopped(t, nil)
	for _, c := range held {
		c.wantEnd()
	}
	if err := ln.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a listener is not closed: %v", err)
	}
	if served := first.paths(); !slices.Equal(served, []string{goodEcho().Path, goodEcho().Path}) {
		t.Errorf("served %q", served)
	}
}

// TestSeveralListenersOverTLS checks that several listeners work over TLS, in both versions of
// HTTP.
func TestSeveralListenersOverTLS(t *testing.T) {
	t.Parallel()
	second, also := serveAlso(listen(t, "tcp", "127.0.0.1:0"))
	first, authority := startSecure(t, also)
	web := webClient(t, authority)
	for _, s := range []*site{first, second} {
		s.dialTLS(t, authority, http11Name).send(good).wantEcho(goodEcho())
		if r := do(t, web, s.url("/x")); r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", s.addr, r.StatusCode, r.body)
		}
	}
}
