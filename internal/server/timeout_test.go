package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// impatient makes the site wait for a header no longer than necessary.
func impatient(_ *site, config *Config) { config.HeaderTimeout = 50 * time.Millisecond }

// TestSlowHeader checks that an incomplete header gets an Error that names the limit, also if
// its start was received with the request before.
func TestSlowHeader(t *testing.T) {
	t.Parallel()
	s := start(t, impatient)
	text := get("Host: x", "X: y")
	for size := 1; size < len(text); size++ {
		part := text[:size]
		t.Run(fmt.Sprintf("%d bytes", size), func(t *testing.T) {
			t.Parallel()
			wantSlow(s.dial(t).send(part))
		})
		t.Run(fmt.Sprintf("%d bytes after another", size), func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(good)
			c.wantEcho(goodEcho())
			wantSlow(c.send(part))
		})
		for _, before := range []string{good, chunked("/good", "2\r\nhi\r\n0\r\n\r\n")} {
			t.Run(fmt.Sprintf("%d bytes pipelined", size), func(t *testing.T) {
				t.Parallel()
				c := s.dial(t).send(before + part)
				c.wantEcho(goodEcho())
				wantSlow(c)
			})
		}
	}
}

func wantSlow(c *client) {
	c.t.Helper()
	if r := c.wantRefusal(408); !strings.Contains(r.body, "50ms") {
		c.t.Errorf("message %q does not name the limit", r.body)
	}
}

// TestSlowHeaderOfHEAD checks that the response to a slow HEAD has no body.
func TestSlowHeaderOfHEAD(t *testing.T) {
	t.Parallel()
	c := start(t, impatient).dial(t).send(good + "HEAD / HTTP/1.1\r\n")
	c.wantEcho(goodEcho())
	c.wantOwnHeader(c.reply(http.MethodHead))
	c.wantEnd()
}

// TestSilence checks that a connection without a request gets no response.
func TestSilence(t *testing.T) {
	t.Parallel()
	s := start(t, impatient, func(_ *site, config *Config) { config.IdleTimeout = 50 * time.Millisecond })
	s.dial(t).wantEnd()
	s.dial(t).closeHalf().wantEnd()

	c := s.dial(t).send(good)
	c.wantEcho(goodEcho())
	c.wantEnd()
	c = s.dial(t).send(good).closeHalf()
	c.wantEcho(goodEcho())
	c.wantEnd()
	// RFC 9112, 2.2: some clients end a body with an extra empty line.
	for _, end := range []string{"\r", "\r\n", "\r\n\r"} {
		c = s.dial(t).send(good + end)
		c.wantEcho(goodEcho())
		c.wantEnd()
	}
}

// TestSlowBody checks that a slow body is a time-out for the handler, and its response is still
// sent.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *site, config *Config) { config.RequestTimeout = 50 * time.Millisecond })
	for _, text := range []string{
		post("/", "h", "Content-Length: 2"),
		post("/", "", "Content-Length: 2"),
		chunked("/", ""), chunked("/", "2\r\nh"), chunked("/", "2\r\nhi\r\n"), chunked("/", "2\r\nhi\r\n0\r\n"),
	} {
		c := s.dial(t).send(text)
		if r := c.wantError(408); !r.Close {
			t.Errorf("%q: the response does not announce that the connection closes", text)
		}
		c.wantEnd()
	}
}

// TestSlowUnreadBody checks that the rest of an unread body is discarded until RequestTimeout,
// and no longer. Later input is ignored.
func TestSlowUnreadBody(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *site, config *Config) { config.RequestTimeout = 50 * time.Millisecond })
	c := s.dial(t).send(post("/early", "h", "Content-Length: 2"))
	c.wantError(401)
	c.wantEnd()
	c.send("i" + good)
	if served := s.paths(); len(served) != 1 {
		t.Errorf("served %q", served)
	}
}

// TestSlowHandler checks that the context of a handler ends after RequestTimeout, and its
// response is sent.
func TestSlowHandler(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *site, config *Config) { config.RequestTimeout = 50 * time.Millisecond })
	s.dial(t).send(host()[:4] + "/wait" + host()[5:]).wantError(503)
}

// TestHalfClose checks that a client that closes its half gets a response to its input.
func TestHalfClose(t *testing.T) {
	t.Parallel()
	s := start(t)
	header := post("/good", "", "Content-Length: 2")
	for size := 1; size <= len(good); size++ {
		part := good[:size]
		wantLast := func(c *client) {
			c.t.Helper()
			switch {
			case size < len(header):
				if r := c.wantRefusal(400); !strings.Contains(r.body, "ends before") {
					c.t.Errorf("message %q does not mention that the request is cut short", r.body)
				}
			case size < len(good):
				c.wantError(400)
			default:
				c.wantEcho(goodEcho())
			}
			c.wantEnd()
		}
		t.Run(fmt.Sprintf("%d bytes", size), func(t *testing.T) {
			t.Parallel()
			wantLast(s.dial(t).send(part).closeHalf())
		})
		t.Run(fmt.Sprintf("%d bytes after another", size), func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(host())
			c.wantEcho(echo{http.MethodGet, "/", ""})
			wantLast(c.send(part).closeHalf())
		})
		t.Run(fmt.Sprintf("%d bytes pipelined", size), func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(good + part).closeHalf()
			c.wantEcho(goodEcho())
			wantLast(c)
		})
	}
}

// TestHalfCloseWhileHandled checks that the context of a handler does not end when the client
// closes its half.
func TestHalfCloseWhileHandled(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.dial(t).send(sized("/wait", "hi"))
	<-s.entered
	c.closeHalf()
	close(s.release)
	c.wantEcho(echo{http.MethodPost, "/wait", "hi"})
	c.wantEnd()
}

// TestGone checks that a client that disconnects does not affect others.
func TestGone(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, text := range []string{"", "GET", good[:len(good)-1], good, good + "G"} {
		c := s.dial(t).send(text)
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset
		}
		_ = c.Close()
	}
	s.dial(t).send(good).wantEcho(goodEcho())
}

func TestUnixSocket(t *testing.T) {
	t.Parallel()
	s := startOn(t, listen(t, "unix", filepath.Join(t.TempDir(), "socket")))
	c := s.dial(t).send(good + "nonsense\r\n\r\n")
	c.wantEcho(goodEcho())
	c.wantRefusal(400)

	c = s.dial(t)
	go func() { _, _ = io.WriteString(c, sized("/early", strings.Repeat("a", 1<<20))) }()
	c.wantError(401)
}

// TestFirstHeaderEnd checks that the time for the first header is not extended by a byte that
// begins none.
func TestFirstHeaderEnd(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	end := time.Now().Add(time.Hour)
	c := &conn{acceptedConn: &acceptedConn{Conn: ours, server: New(testConfig())}, headerEnd: end}
	c.framing.pending = []byte("\r")
	if n, _, err := c.beforeRead(make([]byte, 9)); n != 1 || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if err := c.SetReadDeadline(end.Add(time.Hour)); err != nil { // as net/http does
		t.Fatal(err)
	}
	if _, _, err := c.beforeRead(make([]byte, 9)); err != nil || !c.deadline.Equal(end) {
		t.Errorf("the deadline is %v, %v, want %v", c.deadline, err, end)
	}
}
