package server

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/certtest"
	"plantstore/internal/must"
	"plantstore/models"
)

// startSecure serves over TLS.
func startSecure(t *testing.T, change ...func(*site, *Config)) *site {
	t.Helper()
	return start(t, append([]func(*site, *Config){withTLS(certtest.New(t))}, change...)...)
}

// withTLS makes a site and its clients use TLS.
func withTLS(authority *certtest.Authority) func(*site, *Config) {
	return func(s *site, config *Config) {
		config.TLS, s.tls = authority.Server(), authority.Client("h2", "http/1.1")
		s.tls.ServerName = "localhost"
	}
}

// dialTLS connects to a site over TLS. The client supports HTTP/2 as well.
func (s *site) dialTLS(t *testing.T) *client {
	t.Helper()
	c := s.dial(t)
	secure := tls.Client(c.Conn, s.tls)
	must.Do(t, secure.HandshakeContext(t.Context()))
	return &client{Conn: secure, t: t, in: bufio.NewReader(secure)}
}

// TestPlainToTLS checks that plain HTTP on a TLS port gets an Error in plain HTTP, and is read to
// its end, so that the client gets the response.
func TestPlainToTLS(t *testing.T) {
	t.Parallel()
	s := startSecure(t)
	for _, text := range []string{
		good, "nonsense\r\n\r\n", sized("/good", strings.Repeat("a", 8<<20)), host("A: " + strings.Repeat("a", maxHeaderBytes)),
	} {
		if r := s.dial(t).send(text).wantRefusal(models.CodeBadRequest); !strings.Contains(r.body, "https://") {
			t.Errorf("%.30q: %s", text, r.body)
		}
	}
	if paths := s.paths(); len(paths) > 0 {
		t.Errorf("the handler received %q", paths)
	}
}

// TestSlowCertificate checks that a handshake that waits for a certificate ends in time, and at a
// shutdown.
func TestSlowCertificate(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]time.Duration{"time-out": 50 * time.Millisecond, "shutdown": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var waited atomic.Bool
			s := startSecure(t, func(s *site, config *Config) {
				config.HeaderTimeout = header
				config.TLS = &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
					waited.Store(true)
					if header == time.Hour {
						s.stop()
					}
					<-hello.Context().Done()
					return nil, hello.Context().Err()
				}}
			})
			for !waited.Load() { // on a slow machine the time-out may come first
				if err := tls.Client(s.dial(t).Conn, s.tls).HandshakeContext(t.Context()); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error("it waits")
				}
			}
		})
	}
}

// TestHandshakeIsBounded checks that a slow handshake is cut off and counted, but not logged, since there
// may be many; and that a long one is cut off, even if TLS allows it. After a handshake, its time limit for writing
// does not hold up the response to a slow header.
func TestHandshakeIsBounded(t *testing.T) {
	t.Parallel()
	authority, log := certtest.New(t), new(bytes.Buffer)
	inBubble(t, func(t *testing.T, s *site) {
		s.dialTLS(t).send("GET /").wantError(models.CodeRequestTimeout)
		s.dial(t).wantEnd()
		s.dial(t).send("\x16\x03\x01\x02\x00\x01\x00").wantEnd()
		synctest.Wait()
		if n := s.Stats().SlowHandshakes; n != 2 {
			t.Errorf("%d slow handshakes, want 2", n)
		}
	}, logTo(log), withTLS(authority), func(_ *site, config *Config) { config.HeaderTimeout = time.Second })
	if log.Len() > 0 {
		t.Errorf("it was logged: %s", log)
	}
	c := startSecure(t).dial(t).send("\x16\x03\x01\x40\x00\x01\x00\xff\xfb" + strings.Repeat("a", maxHandshake))
	if text, err := io.ReadAll(c.in); errors.Is(err, os.ErrDeadlineExceeded) { // it may as well be reset
		t.Errorf("the connection stays; the server sends %q", text)
	}
}

// TestRequestsOfHandler checks that each request on a connection has a context with its own deadline,
// which ends with the request, and the state of TLS.
func TestRequestsOfHandler(t *testing.T) {
	t.Parallel()
	requests := make(chan *http.Request, 1)
	c := startSecure(t, handler(func(_ http.ResponseWriter, r *http.Request) { requests <- r })).dialTLS(t)
	var before time.Time
	for range 2 {
		c.send(host()).reply()
		r := <-requests
		<-r.Context().Done()
		due, _ := r.Context().Deadline()
		if !due.After(before) || time.Until(due) > patience {
			t.Errorf("the deadline is %v, that of the last request %v", due, before)
		}
		if r.TLS == nil || r.TLS.Version < tls.VersionTLS12 || r.TLS.ServerName != "localhost" {
			t.Errorf("the state of TLS is %+v", r.TLS)
		}
		before = due
	}
}
