package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// wantStopped shuts the site down and checks the error of Serve.
func (s *site) wantStopped(t *testing.T) {
	t.Helper()
	s.stop()
	if err := <-s.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// TestShutdownClosesIdle checks that idle connections are closed without a response, unused
// ones as well, for which net/http would wait five seconds.
func TestShutdownClosesIdle(t *testing.T) {
	t.Parallel()
	s, _ := startSecure(t, func(_ *site, config *Config) { config.ShutdownTimeout = 4 * time.Second })
	plain := start(t, func(_ *site, config *Config) { config.ShutdownTimeout = 4 * time.Second })
	unused, used, handshake := plain.dial(t), plain.dial(t).send(good), s.dial(t)
	used.wantEcho(goodEcho())
	log := new(bytes.Buffer)
	plain.config.Logger = slog.New(slog.NewTextHandler(log, nil))
	plain.wantStopped(t)
	s.wantStopped(t)
	unused.wantEnd()
	used.wantEnd()
	handshake.wantEnd()
	if log.Len() > 0 {
		t.Errorf("it was logged: %s", log)
	}
}

// TestShutdownFinishesRequests checks that a request in progress is finished, also over TLS; a
// later one is not handled.
func TestShutdownFinishesRequests(t *testing.T) {
	t.Parallel()
	plain := start(t)
	secure, authority := startSecure(t)
	for s, c := range map[*site]*client{plain: plain.dial(t), secure: secure.dialTLS(t, authority)} {
		c.send(sized("/wait", "hi"))
		<-s.entered
		s.stop()
		<-s.draining.Done()
		c.send(good)
		close(s.release)
		if r := c.wantEcho(echo{"POST", "/wait", "hi"}); !r.Close {
			t.Error("the response does not announce that the connection closes")
		}
		c.wantEnd()
		s.wantStopped(t)
		if served := s.paths(); len(served) != 1 {
			t.Errorf("served %q", served)
		}
	}
}

// TestShutdownTimeout checks that a request that does not finish is cut off, which is logged and
// not an error: one whose handler ignores its context, and one whose client does not read.
func TestShutdownTimeout(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := start(t, func(_ *site, config *Config) {
		config.ShutdownTimeout = 50 * time.Millisecond
		config.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	defer close(s.release)
	stuck, waiting, deaf := s.dial(t).send(sized("/stuck", "hi")), s.dial(t).send(sized("/wait", "hi")), s.dial(t)
	<-s.entered
	<-s.entered
	go func() { _, _ = io.Copy(deaf, endless{"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"}) }()
	if _, err := deaf.in.Peek(1); err != nil {
		t.Fatal(err)
	}
	s.wantStopped(t)
	for _, c := range []*client{stuck, waiting} {
		_, _ = io.Copy(io.Discard, c.in) // the handler of the second one may respond in time
	}
	if !strings.Contains(log.String(), "shutdown timeout") {
		t.Errorf("the log is %q", &log)
	}
}

// An endless is an input that repeats a text.
type endless struct{ text string }

func (e endless) Read(p []byte) (int, error) { return copy(p, e.text), nil }

// TestShutdownEndsDraining checks that a shutdown does not wait for a client that keeps its
// connection open, and sends, after the last response.
func TestShutdownEndsDraining(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.dial(t).send(sized("/early", "")[:20] + "\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
	c.reply("POST")
	c.wantEnd()
	began := time.Now()
	s.wantStopped(t)
	if took := time.Since(began); took > drainTime-time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestListenerFails checks that the error of the listener ends Serve.
func TestListenerFails(t *testing.T) {
	t.Parallel()
	ln := listen(t, "tcp", "127.0.0.1:0")
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if err := New(testConfig()).Serve(t.Context(), ln); !errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve: %v, want the listener's error", err)
	}
}

// TestLeave checks that before the shutdown clients that are to leave are served, and each of
// their connections closes after a response that announces it.
func TestLeave(t *testing.T) {
	t.Parallel()
	s := start(t)
	idle, body := s.dial(t).send(good), s.dial(t).send(good[:len(good)-1])
	idle.wantEcho(goodEcho())
	s.Leave()
	body.send("i")
	for name, c := range map[string]*client{"a body in progress": body, "a used connection": idle.send(good), "a new connection": s.dial(t).send(host())} {
		if r := c.reply("POST"); !r.Close || r.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d, closes: %v", name, r.StatusCode, r.Close)
		}
		c.wantEnd()
	}
	s.wantStopped(t)
}
