package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"plantstore/models"
)

// TestParked checks that parking is invisible to the client, whatever the pieces of the next
// request, also over TLS.
func TestParked(t *testing.T) {
	t.Parallel()
	plain := start(t)
	secure, authority := startSecure(t)
	for name, dial := range map[string]func() (*site, *client){
		"plain": func() (*site, *client) { return plain, plain.dial(t) },
		"TLS":   func() (*site, *client) { return secure, secure.dialTLS(t, authority, http11Name) },
	} {
		s, c := dial()
		for _, first := range []int{len(good), 1, 2, 17, len(good) - 1} {
			c.send(good[:first])
			if first < len(good) { // else it may be parked again already
				await(t, &s.counters.waiting, 0)
			}
			c.send(good[first:]).wantEcho(goodEcho())
			await(t, &s.counters.waiting, 1)
		}
		c.send("HEAD / HTTP/1.1\r\n\r\n")
		if r := c.reply(http.MethodHead); r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: HEAD: %d", name, r.StatusCode)
		}
		c.wantEnd()
		if open := s.Stats().Open; open > 1 {
			t.Errorf("%s: %d connections are open", name, open)
		}
	}
}

// TestParkedLimits checks that a parked connection keeps its slot, and IdleTimeout applies.
func TestParkedLimits(t *testing.T) {
	t.Parallel()
	s := start(t, only(1))
	c := s.dial(t).send(good)
	c.wantEcho(goodEcho())
	await(t, &s.counters.waiting, 1)
	s.dial(t).send(good).wantRefusal(models.CodeUnavailable)
	_ = c.Close()
	await(t, &s.counters.waiting, 0)

	s = start(t, func(_ *site, config *Config) { config.IdleTimeout = 500 * time.Millisecond })
	c = s.dial(t).send(good)
	c.wantEcho(goodEcho())
	c.wantEnd()
	await(t, &s.counters.waiting, 0)
}

// TestShutdownWithParked checks that a shutdown does not wait for parked connections. A request
// that was just sent gets a response.
func TestShutdownWithParked(t *testing.T) {
	t.Parallel()
	s := start(t)
	silent, late := s.dial(t).send(good), s.dial(t).send(good)
	silent.wantEcho(goodEcho())
	late.wantEcho(goodEcho())
	await(t, &s.counters.waiting, 2)
	s.stop()
	_, _ = io.WriteString(late, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n") // it may be too late
	silent.wantEnd()
	r, err := http.ReadResponse(late.in, &http.Request{Method: http.MethodHead})
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
	case err != nil:
		if !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	case r.StatusCode != http.StatusBadRequest && r.StatusCode != http.StatusOK:
		t.Errorf("status %d", r.StatusCode)
	default:
		late.wantEnd()
	}
}
