package server

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"plantstore/internal/must"
)

// TestShutdownClosesIdle checks that idle connections are closed without a response, unused
// ones as well, for which net/http would wait five seconds.
func TestShutdownClosesIdle(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	soon := func(_ *site, config *Config) { config.ShutdownTimeout = 4 * time.Second }
	plain, secure := start(t, soon, logTo(&log)), startSecure(t, soon, logTo(&log))
	unused, used, handshake := plain.dial(t), plain.hold(t), secure.dial(t)
	for secure.Stats().Accepted == 0 {
		runtime.Gosched()
	}
	plain.wantStopped(t)
	secure.wantStopped(t)
	for _, c := range []*client{unused, used, handshake} {
		c.wantEnd()
	}
	if log.Len() > 0 {
		t.Errorf("it was logged: %s", &log)
	}
}

// TestShutdownOverLimit checks that a shutdown waits neither for incomplete headers, nor for
// connections beyond the limit, one of which waits for a slot.
func TestShutdownOverLimit(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *site) {
		s.hold(t)
		s.dial(t).send("GET / HT")
		s.dial(t)
		began := time.Now()
		s.wantStopped(t)
		if took := time.Since(began); took >= patience {
			t.Errorf("it took %v", took)
		}
	}, only(1))
}

// TestShutdownFinishesRequests checks that a request in progress is finished, also over TLS; a
// later one is not handled.
func TestShutdownFinishesRequests(t *testing.T) {
	t.Parallel()
	plain, secure := start(t), startSecure(t)
	for s, c := range map[*site]*client{plain: plain.dial(t), secure: secure.dialTLS(t)} {
		c.send(sized("/wait", "hi"))
		<-s.entered
		s.stop()
		<-s.draining.Done()
		c.send(good)
		close(s.release)
		if r := c.wantEcho("POST /wait hi"); !r.Close {
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
	s := start(t, logTo(&log), func(_ *site, config *Config) { config.ShutdownTimeout = 50 * time.Millisecond })
	defer close(s.release)
	stuck, waiting, deaf := s.dial(t).send(sized("/stuck", "hi")), s.dial(t).send(sized("/wait", "hi")), s.dial(t)
	<-s.entered
	<-s.entered
	go func() { _, _ = io.Copy(deaf, endless{sized("/large", "")}) }()
	must.Get(deaf.in.Peek(1))(t)
	s.wantStopped(t)
	for _, c := range []*client{stuck, waiting} {
		_, _ = io.Copy(io.Discard, c.in) // the handler of the second one may respond in time
	}
	if !strings.Contains(log.String(), "shutdown timeout") {
		t.Errorf("the log is %q", &log)
	}
}

// TestShutdownEndsDraining checks that a shutdown does not wait for a client that keeps its
// connection open after the last response.
func TestShutdownEndsDraining(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.dial(t).send(post("/early", "", "Content-Length: 9"))
	c.wantError(401)
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
	ln := httptest.NewUnstartedServer(nil).Listener
	_ = ln.Close()
	if err := New(Config{Logger: slog.New(slog.DiscardHandler)}).Serve(t.Context(), ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v, want the listener's error", err)
	}
}

// TestLeave checks that before the shutdown a client that is to leave gets a response that announces
// that the connection closes, also to a request in progress.
func TestLeave(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	s := start(t, handler(func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		_, _ = io.ReadAll(r.Body)
	}))
	c := s.dial(t).send(good[:len(good)-1])
	<-entered
	s.Leave()
	if r := c.send("i").reply(); !r.Close || r.StatusCode != http.StatusOK {
		t.Errorf("status %d, closes: %v", r.StatusCode, r.Close)
	}
	c.wantEnd()
}
