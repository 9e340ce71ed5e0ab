package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// wantStopped shuts the site down and checks the error of Serve.
func (s *site) wantStopped(t *testing.T, want error) {
	t.Helper()
	s.stop()
	if err := <-s.done; !errors.Is(err, want) {
		t.Errorf("Serve: %v, want %v", err, want)
	}
}

// waitUntilStopping returns when the site accepts no more connections.
func (s *site) waitUntilStopping(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		nc, err := new(net.Dialer).DialContext(t.Context(), s.addr.Network(), s.addr.String())
		if err != nil {
			return
		}
		_ = nc.Close()
	}
	t.Fatal("still accepting connections")
}

func TestShutdownWithoutConnections(t *testing.T) {
	t.Parallel()
	start(t).wantStopped(t, nil)
}

// TestShutdownClosesIdle checks that idle connections are closed without a response, unused
// ones as well.
func TestShutdownClosesIdle(t *testing.T) {
	t.Parallel()
	// net/http would wait 5 s for the unused one.
	s := start(t, func(_ *site, config *Config) { config.ShutdownTimeout = 4 * time.Second })
	unused, used := s.dial(t), s.dial(t).send(good)
	used.wantEcho(goodEcho())
	s.wantStopped(t, nil)
	unused.wantEnd()
	used.wantEnd()
}

// TestShutdownFinishesRequests checks that a request in progress is finished; a later one is
// not handled.
func TestShutdownFinishesRequests(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.dial(t).send(sized("/wait", "hi"))
	<-s.entered
	s.stop()
	s.waitUntilStopping(t)
	c.send(good)
	close(s.release)
	if r := c.wantEcho(echo{"POST", "/wait", "hi"}); !r.Close {
		t.Error("the response does not announce that the connection closes")
	}
	c.wantEnd()
	s.wantStopped(t, nil)
	if served := s.paths(); len(served) != 1 {
		t.Errorf("served %q", served)
	}
}

// TestShutdownWithHalfHeader checks that half a header on a used connection gets a response:
// its request is not handled.
func TestShutdownWithHalfHeader(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.dial(t).send(good)
	c.wantEcho(goodEcho())
	c.send(good + "GET / HT")
	c.wantEcho(goodEcho()) // the half that follows has come, too
	s.stop()
	s.waitUntilStopping(t)
	c.wantError(503)
	c.send("TP/1.1\r\nHost: x\r\n\r\n").closeHalf().wantEnd()
	s.wantStopped(t, nil)
}

// A noticing listener reports reads that returned data or the end.
type noticing struct {
	net.Listener

	read chan struct{}
}

func (n *noticing) Accept() (net.Conn, error) {
	nc, err := n.Listener.Accept()
	return &noticed{Conn: nc, read: n.read}, err
}

type noticed struct {
	net.Conn

	read chan struct{}
}

func (n *noticed) Read(p []byte) (int, error) {
	size, err := n.Conn.Read(p)
	if size > 0 || errors.Is(err, io.EOF) {
		select {
		case n.read <- struct{}{}:
		default: // no test waits for more than a few
		}
	}
	return size, err
}

// startNoticing starts a site and returns the channel on which it reports reads.
func startNoticing(t *testing.T, change ...func(*site, *Config)) (*site, <-chan struct{}) {
	t.Helper()
	n := &noticing{Listener: listen(t, "tcp", "127.0.0.1:0"), read: make(chan struct{}, 9)}
	return startOn(t, n, change...), n.read
}

// sendTwice sends half a header in two pieces. When the second one is read, the server has
// handled the first.
func sendTwice(t *testing.T, s *site, read <-chan struct{}) *client {
	t.Helper()
	c := s.dial(t)
	for _, piece := range []string{"GET /", " HT"} {
		c.send(piece)
		select {
		case <-read:
		case <-time.After(patience):
			t.Fatalf("the server does not read %q", piece)
		}
	}
	return c
}

// TestShutdownWithHalfHeaderOnly checks that a header that is completed after the shutdown
// began is refused.
func TestShutdownWithHalfHeaderOnly(t *testing.T) {
	t.Parallel()
	s, read := startNoticing(t)
	c := sendTwice(t, s, read)
	s.stop()
	s.waitUntilStopping(t)
	c.send("TP/1.1\r\nHost: x\r\n\r\n").wantError(503)
	c.closeHalf()
	s.wantStopped(t, nil)
	if served := s.paths(); len(served) != 0 {
		t.Errorf("served %q", served)
	}
}

// TestShutdownWithSlowHeader checks that HeaderTimeout also applies to a request whose header is
// incomplete when the shutdown begins.
func TestShutdownWithSlowHeader(t *testing.T) {
	t.Parallel()
	s, read := startNoticing(t, func(_ *site, config *Config) { config.HeaderTimeout = 2 * time.Second })
	c := sendTwice(t, s, read)
	s.stop()
	c.wantError(408)
	c.closeHalf()
	s.wantStopped(t, nil)
}

// TestShutdownBeforeFirstRequest checks that what the client sends on an unused connection when
// the shutdown has begun gets a response.
func TestShutdownBeforeFirstRequest(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{"GET / HT": `"error":503`, "GET / HTTP/1.1\r\nHost: x\r\n\r\n": `"error":503`, "": ""} {
		t.Run(sent, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				s := New(testConfigWith(nil))
				defer s.forceClose()
				if err := s.http1.Shutdown(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.startDrain()
				s.background.Go((&acceptedConn{Conn: near, server: s}).begin)
				if sent != "" {
					if _, err := io.WriteString(far, sent); err != nil {
						t.Fatal(err)
					}
				}
				response, err := io.ReadAll(far)
				if (want == "") != (len(response) == 0) || err != nil || !strings.Contains(string(response), want) {
					t.Errorf("%q, %v; want %q", response, err, want)
				}
				s.background.Wait()
			})
		})
	}
}

// TestShutdownCutsOff checks that a request that does not finish is cut off with an Error, and
// Serve returns an error.
func TestShutdownCutsOff(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *site, config *Config) { config.ShutdownTimeout = 50 * time.Millisecond })
	defer close(s.release)
	c := s.dial(t).send(sized("/stuck", "hi"))
	<-s.entered
	s.wantStopped(t, context.DeadlineExceeded)
	c.wantRefusal(500)
}

// TestShutdownEndsLingering checks that a lingering connection is closed soon after the
// shutdown begins.
func TestShutdownEndsLingering(t *testing.T) {
	t.Parallel()
	for name, timeout := range map[string]time.Duration{"short": 50 * time.Millisecond, "long": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, func(s *site, config *Config) {
				config.ShutdownTimeout = timeout
				s.linger = time.Hour // only the shutdown ends it
			})
			c := s.dial(t).send(host("Connection: close"))
			c.wantEcho(echo{"GET", "/", ""})
			c.wantEnd()
			s.wantStopped(t, nil)
		})
	}
}

// A halfCloser is one end of a pipe that counts as closed for writing.
type halfCloser struct{ net.Conn }

func (halfCloser) CloseWrite() error { return nil }

// TestShutdownTimeoutCutsLingering checks that a lingering connection is closed even sooner if
// ShutdownTimeout is shorter.
func TestShutdownTimeoutCutsLingering(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]time.Duration{drainLinger / 10: drainLinger / 10, time.Minute: drainLinger} {
		t.Run(timeout.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				config := testConfigWith(nil)
				config.ShutdownTimeout = timeout
				s := New(config)
				s.linger = time.Hour // only the shutdown ends it
				near, far := net.Pipe()
				defer func() { _ = far.Close() }()
				c := &acceptedConn{Conn: halfCloser{near}, server: s, slot: s.limit.acquire(nil)}
				s.background.Go(func() { c.lingerOn(nil, recipient{}) })
				synctest.Wait()
				stopped := time.Now()
				s.startDrain()
				if err := s.shutdown(t.Context()); err != nil || time.Since(stopped) != want {
					t.Errorf("it took %v, %v; want %v", time.Since(stopped), err, want)
				}
			})
		})
	}
}

// TestListenerFails checks that the error of one listener ends Serve and closes the others.
func TestListenerFails(t *testing.T) {
	t.Parallel()
	ln, other := listen(t, "tcp", "127.0.0.1:0"), listen(t, "tcp", "127.0.0.1:0")
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	s := New(testConfigWith(nil))
	if err := s.Serve(t.Context(), other, ln); !errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Serve: %v, want the listener's error", err)
	}
	if err := other.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the other listener is not closed: %v", err)
	}
}

// TestRejectAtShutdown checks that a request that was sent before the shutdown gets a response,
// even if net/http considers the connection idle and closes it, while it reads or not.
func TestRejectAtShutdown(t *testing.T) {
	t.Parallel()
	for _, reading := range []bool{false, true} {
		for sent, want := range map[string]string{
			good:   `"error":503`,
			"GET":  `"error":503`,
			"\r\n": "",
			"":     "",
		} {
			t.Run(fmt.Sprintf("%q, reading %v", sent, reading), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					if response := rejectedAtShutdown(t, sent, reading); !strings.Contains(response, want) || (want == "") != (response == "") {
						t.Errorf("got %q, want %q", response, want)
					}
				})
			})
		}
	}
}

// rejectedAtShutdown returns the response to input on an idle connection that is closed at
// a shutdown.
func rejectedAtShutdown(t *testing.T, sent string, reading bool) string {
	t.Helper()
	near, far := net.Pipe()
	s := New(testConfigWith(nil))
	defer s.forceClose()
	c := &conn{acceptedConn: &acceptedConn{Conn: near, server: s}}
	if reading {
		go func() { _, _ = c.Read(make([]byte, 4096)) }()
		synctest.Wait()
	}
	s.startDrain()
	var closed sync.WaitGroup
	if reading { // Close comes first, or the request would be net/http's
		_ = c.Close()
	}
	closed.Go(func() { _, _ = io.WriteString(far, sent) })
	synctest.Wait()
	_ = c.Close()
	response, err := io.ReadAll(far)
	if err != nil {
		t.Error(err)
	}
	s.background.Wait()
	_ = far.Close()
	closed.Wait()
	return string(response)
}

// TestLeave checks that before the shutdown clients that are to leave are served, and each of
// their connections closes after a response that announces it.
func TestLeave(t *testing.T) {
	t.Parallel()
	s := start(t)
	idle, waiting := s.dial(t).send(good), s.dial(t)
	idle.wantEcho(goodEcho())
	waiting.send(sized("/wait", "hi"))
	<-s.entered
	s.Leave()
	close(s.release)
	if r := waiting.wantEcho(echo{"POST", "/wait", "hi"}); !r.Close {
		t.Error("the response to a request in progress does not announce that the connection closes")
	}
	waiting.wantEnd()
	for name, c := range map[string]*client{"a used connection": idle, "a new connection": s.dial(t)} {
		if r := c.send(good).wantEcho(goodEcho()); !r.Close {
			t.Errorf("%s: the response does not announce that the connection closes", name)
		}
		c.wantEnd()
	}
	s.wantStopped(t, nil)
}
