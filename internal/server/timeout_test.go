package server

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowHeader checks that a header that has begun and is not complete after five seconds, the time
// limit by default, gets an Error. A connection without one is closed without a response (C1.3).
func TestSlowHeader(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *site) {
		text := get("Host: x", "X: y")
		s.dial(t).wantLateEnd()
		for _, part := range []string{"G", text[:5], text[:len(text)-5], text[:len(text)-1]} {
			s.dial(t).send(part).wantLate()
			c := s.dial(t).send(good)
			c.wantEcho(goodEcho)
			synctest.Wait() // until the connection is idle: before, net/http may read one byte into its buffer
			c.send(part).wantLate()
		}
		for _, part := range []string{"", "\r\n", text[:4], text[:len(text)-1]} { // of net/http's buffer
			c := s.dial(t).send(good + part)
			c.wantEcho(goodEcho)
			if len(part) < 4 {
				c.wantLateEnd()
			} else {
				c.wantLate()
			}
		}
	}, func(s *site, config *Config) { config.HeaderTimeout, s.idleTime = 0, 5*time.Second })
}

// TestSlowRequest checks that a slow body is a time-out for the handler, and so is a slow handler.
// The response is still sent, and then the connection is read for five seconds, as the client may
// not have read the response. The time before a request does not count.
func TestSlowRequest(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *site) {
		for _, text := range []string{
			post("/", "h", "Content-Length: 2"),
			post("/", "", "Content-Length: 2"),
			chunked("/", ""), chunked("/", "2\r\nh"), chunked("/", "2\r\nhi\r\n"), chunked("/", "2\r\nhi\r\n0\r\n"),
		} {
			c := s.dial(t).send(text)
			if r := c.wantError(408); !r.Close {
				t.Errorf("%q: the response does not announce that the connection closes", text)
			}
			c.wantLateEnd()
		}
		s.dial(t).send(sized("/wait", "")).wantError(503)
		late := s.dial(t)
		time.Sleep(time.Second)
		content := strings.Repeat("a", 20<<10)
		late.send(sized("/", content)).wantEcho("POST / " + content)
	}, func(_ *site, config *Config) { config.RequestTimeout = time.Second })
}

// TestHalfClose checks that a client that closes its half gets a response to its input, unless it
// ends before a request begins.
func TestHalfClose(t *testing.T) {
	t.Parallel()
	s := start(t)
	header := post("/good", "", "Content-Length: 2")
	for _, before := range []string{"", host()} {
		for size := 1; size <= len(good); size++ {
			c := s.dial(t).send(before + good[:size]).closeHalf()
			if before != "" {
				c.wantEcho("GET / ")
			}
			switch {
			case size < 4 && before != "": // net/http waits for four bytes of a further request
			case size < len(header):
				c.wantRefusal(400)
			case size < len(good):
				c.wantError(400)
			default:
				c.wantEcho(goodEcho)
			}
			c.wantEnd()
		}
	}
}
