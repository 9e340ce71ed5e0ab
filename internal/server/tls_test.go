package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"plantstore/internal/certtest"
	"plantstore/models"
)

// startSecure serves over TLS.
func startSecure(t *testing.T, change ...func(*site, *Config)) (*site, *certtest.Authority) {
	t.Helper()
	authority := certtest.New(t)
	withTLS := func(_ *site, config *Config) { config.TLS = authority.Server() }
	return start(t, append([]func(*site, *Config){withTLS}, change...)...), authority
}

// dialTLS connects to a site over TLS. The client supports HTTP/2 as well.
func (s *site) dialTLS(t *testing.T, authority *certtest.Authority) *client {
	t.Helper()
	c := s.dial(t)
	config := authority.Client("h2", "http/1.1")
	config.ServerName = "localhost"
	secure := tls.Client(c.Conn, config)
	if err := secure.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &client{Conn: secure, t: t, in: bufio.NewReader(secure)}
}

// TestRefusalsOverTLS checks that requests that net/http refuses get an Error over TLS as well.
func TestRefusalsOverTLS(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t)
	for _, r := range refusedRequests() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := s.dialTLS(t, authority)
			go func() { _, _ = io.WriteString(c, r.text) }()
			c.wantRefusal(r.code)
		})
	}
}

// TestPlainToTLS checks that plain HTTP on a TLS port gets an Error in plain HTTP.
func TestPlainToTLS(t *testing.T) {
	t.Parallel()
	s, _ := startSecure(t)
	c := s.dial(t).send("POST /good HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
	if r := c.wantRefusal(models.CodeBadRequest); !strings.Contains(r.body, "https://") {
		t.Errorf("%v %s", r.Header, r.body)
	}
	s.dial(t).send("nonsense\r\n\r\n").wantRefusal(models.CodeBadRequest)
	if paths := s.paths(); len(paths) > 0 {
		t.Errorf("the handler received %q", paths)
	}
}

// TestMuchPlainToTLS checks that plain HTTP on a TLS port is read to its end, so that the
// client gets the response.
func TestMuchPlainToTLS(t *testing.T) {
	t.Parallel()
	s, _ := startSecure(t)
	for name, text := range map[string]string{
		"body":   "POST /good HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n" + strings.Repeat("a", 8<<20),
		"header": "GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 20<<10) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t)
			if _, err := io.WriteString(c, text); err != nil {
				t.Errorf("it is not read: %v", err)
			}
			c.wantRefusal(models.CodeBadRequest)
		})
	}
}

// TestSlowCertificate checks that the time-out of a handshake applies also while it waits for a
// certificate.
func TestSlowCertificate(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]time.Duration{"header timeout": 50 * time.Millisecond, "stop": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requested, ended := make(chan struct{}, 1), make(chan struct{}, 1)
			s, authority := startSecure(t, func(s *site, config *Config) {
				s.headerTime = header
				config.TLS = &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
					requested <- struct{}{}
					<-hello.Context().Done()
					ended <- struct{}{}
					return nil, hello.Context().Err()
				}}
			})
			config := authority.Client()
			config.ServerName = "localhost"
			for waits := false; !waits; {
				failed := make(chan struct{})
				c := tls.Client(s.dial(t).Conn, config)
				go func() { defer close(failed); _ = c.HandshakeContext(t.Context()) }() // it gets no certificate
				select {
				case <-requested:
					waits = true
				case <-failed: // the machine was slow: the time-out came first
					waits = len(requested) > 0
				}
			}
			if name == "stop" {
				s.stop()
			}
			select {
			case <-ended:
			case <-time.After(patience):
				t.Error("it waits")
			}
		})
	}
}

// TestSlowHandshake checks that a slow handshake is cut off.
func TestSlowHandshake(t *testing.T) {
	t.Parallel()
	s, _ := startSecure(t, func(s *site, _ *Config) { s.headerTime = 50 * time.Millisecond })
	s.dial(t).wantEnd()
	s.dial(t).send("\x16\x03\x01\x02\x00\x01\x00").wantEnd()
}

// TestOverLimitOverTLS checks that a connection beyond the limit gets an Error in HTTP/1.1,
// even if it offers HTTP/2.
func TestOverLimitOverTLS(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(_ *site, config *Config) { config.MaxConnections = 1 })
	first := s.dialTLS(t, authority)
	first.send(good).wantEcho(goodEcho())
	second := s.dialTLS(t, authority)
	if protocol := second.Conn.(*tls.Conn).ConnectionState().NegotiatedProtocol; protocol != "http/1.1" { //nolint:forcetypeassert // dialTLS
		t.Errorf("%s is spoken", protocol)
	}
	second.send(good).wantRefusal(models.CodeUnavailable)
	first.send(good).wantEcho(goodEcho())
}

// TestLongHandshake checks that a long handshake is cut off, even if TLS allows it.
func TestLongHandshake(t *testing.T) {
	t.Parallel()
	s, _ := startSecure(t)
	c := s.dial(t).send("\x16\x03\x01\x40\x00\x01\x00\xff\xfb" + strings.Repeat("a", maxHandshake))
	if text, err := io.ReadAll(c.in); errors.Is(err, os.ErrDeadlineExceeded) { // it may as well be reset
		t.Errorf("the connection stays; the server sends %q", text)
	}
}

// TestTLSOfRequests checks that requests over TLS have the state of the connection.
func TestTLSOfRequests(t *testing.T) {
	t.Parallel()
	states := make(chan *tls.ConnectionState, 1)
	s, authority := startSecure(t, func(_ *site, config *Config) {
		config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { states <- r.TLS })
	})
	for range 2 {
		s.dialTLS(t, authority).send(host())
		if state := <-states; state == nil || state.Version < tls.VersionTLS12 || state.ServerName != "localhost" {
			t.Errorf("the state is %+v", state)
		}
	}
}
