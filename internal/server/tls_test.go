package server

import (
	"bufio"
	"context"
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

// dialTLS connects to a site over TLS, for these protocols.
func (s *site) dialTLS(t *testing.T, authority *certtest.Authority, protocols ...string) *client {
	t.Helper()
	c := s.dial(t)
	config := authority.Client(protocols...)
	config.ServerName = "localhost"
	secure := tls.Client(c.Conn, config)
	if err := secure.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &client{Conn: secure, t: t, in: bufio.NewReader(secure)}
}

// webClient returns a client that speaks HTTP/2.
func webClient(t *testing.T, authority *certtest.Authority) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: authority.Client(), ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

func (s *site) url(path string) string { return "https://" + s.addr.String() + path }

// do posts something over HTTP/2.
func do(t *testing.T, c *http.Client, url string) reply {
	t.Helper()
	return doBody(t, c, url, strings.NewReader("hi"))
}

// doBody is do with that body.
func doBody(t *testing.T, c *http.Client, url string, body io.Reader) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.ProtoMajor != 2 {
		t.Errorf("%s, want HTTP/2", response.Proto)
	}
	return reply{response, string(content)}
}

// TestRefusalsOverTLS checks that requests that net/http refuses get an Error over TLS as well.
func TestRefusalsOverTLS(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t)
	for _, r := range refusals() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := s.dialTLS(t, authority, http11Name)
			go func() { _, _ = io.WriteString(c, r.text) }()
			c.wantRefusal(r.code)
		})
	}
}

// TestPlainToTLS checks that plain HTTP on a TLS port gets an Error in plain HTTP.
func TestPlainToTLS(t *testing.T) {
	t.Parallel()
	s, _ := startSecure(t)
	c := s.dial(t).send("POST /good HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nContent-Length: 2\r\n\r\nhi")
	if r := c.wantRefusal(models.CodeBadRequest); r.Header.Get("X-Request-Id") != "mine" || !strings.Contains(r.body, "https://") {
		t.Errorf("%v %s", r.Header, r.body)
	}
	s.dial(t).send("nonsense\r\n\r\n").wantRefusal(models.CodeBadRequest)
	if r := s.dial(t).send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").reply(http.MethodHead); r.StatusCode != http.StatusBadRequest {
		t.Errorf("HEAD: %d", r.StatusCode)
	}
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
		"body":   "POST /good HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nContent-Length: 8388608\r\n\r\n" + strings.Repeat("a", 8<<20),
		"header": "GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 20<<10) + "\r\nX-Request-Id: mine\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t)
			if _, err := io.WriteString(c, text); err != nil {
				t.Errorf("it is not read: %v", err)
			}
			if r := c.wantRefusal(models.CodeBadRequest); r.Header.Get("X-Request-Id") != "mine" {
				t.Errorf("%v %s", r.Header, r.body)
			}
		})
	}
}

// TestShutdownWithPlainToTLS checks that a shutdown does not wait for an incomplete header in
// plain HTTP.
func TestShutdownWithPlainToTLS(t *testing.T) {
	t.Parallel()
	s, _ := startSecure(t, func(_ *site, config *Config) { config.HeaderTimeout = time.Hour })
	s.dial(t).send("POST")
	s.stop()
	select {
	case err := <-s.done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("it waits")
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
			s, authority := startSecure(t, func(_ *site, config *Config) {
				config.HeaderTimeout = header
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
	s, _ := startSecure(t, func(_ *site, config *Config) { config.HeaderTimeout = 50 * time.Millisecond })
	s.dial(t).wantEnd()
	s.dial(t).send("\x16\x03\x01\x02\x00\x01\x00").wantEnd()
}

// TestOverLimitOverTLS checks that a connection beyond the limit gets an Error in HTTP/1.1,
// even if it offers HTTP/2.
func TestOverLimitOverTLS(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(_ *site, config *Config) { config.MaxConnections = 1 })
	first := s.dialTLS(t, authority, http11Name)
	first.send(good).wantEcho(goodEcho())
	second := s.dialTLS(t, authority, http2Name, http11Name)
	if protocol := second.Conn.(*tls.Conn).ConnectionState().NegotiatedProtocol; protocol != http11Name { //nolint:forcetypeassert // dialTLS
		t.Errorf("%s is spoken", protocol)
	}
	second.send(good).wantRefusal(models.CodeUnavailable)
	first.send(good).wantEcho(goodEcho())
}

// TestShutdownOverTLS checks that requests in progress finish at a shutdown, in both versions.
func TestShutdownOverTLS(t *testing.T) {
	t.Parallel()
	for name, two := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, authority := startSecure(t)
			var responded chan reply
			if responded = make(chan reply, 1); two {
				go func() { responded <- do(t, webClient(t, authority), s.url("/wait")) }()
			} else {
				c := s.dialTLS(t, authority, http11Name).send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
				go func() { responded <- c.reply(http.MethodPost) }()
			}
			<-s.entered
			s.stop()
			close(s.release)
			if r := <-responded; r.StatusCode != http.StatusOK {
				t.Errorf("%d %s", r.StatusCode, r.body)
			}
			if err := <-s.done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestShutdownCutsOffStreams checks that a request beyond its deadline is aborted, also in
// HTTP/2.
func TestShutdownCutsOffStreams(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(_ *site, config *Config) { config.ShutdownTimeout = 50 * time.Millisecond })
	failed := make(chan error, 1)
	c := webClient(t, authority)
	go func() {
		response, err := c.Post(s.url("/wait"), "text/plain", strings.NewReader("hi")) //nolint:noctx // it has a time-out
		if err == nil {
			_ = response.Body.Close()
		}
		failed <- err
	}()
	<-s.entered
	s.stop()
	if err := <-s.done; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve: %v", err)
	}
	if err := <-failed; err == nil {
		t.Error("an response has come")
	}
}

// TestPanicInHTTP2 checks that a panic gets a response in HTTP/2 as well, and the connection
// stays open.
func TestPanicInHTTP2(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t)
	c := webClient(t, authority)
	for _, path := range []string{"/panic", "/late-panic", "/abort"} {
		r := do(t, c, s.url(path))
		if problem := notError(r.Response, r.body, models.CodeInternal); problem != "" {
			t.Errorf("%s: %s in %d %s", path, problem, r.StatusCode, r.body)
		}
	}
	if r := do(t, c, s.url("/good")); r.StatusCode != http.StatusOK {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// TestTooManyConnectionsOfHTTP2 checks that one in a hundred connections may use HTTP/2; the
// others use HTTP/1.1, until one of the first closes.
func TestTooManyConnectionsOfHTTP2(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(_ *site, config *Config) { config.MaxConnections = 2 * maxStreams })
	spoken := func() (string, *client) {
		c := s.dialTLS(t, authority, http2Name, http11Name)
		return c.Conn.(*tls.Conn).ConnectionState().NegotiatedProtocol, c //nolint:forcetypeassert // dialTLS
	}
	s.dialTLS(t, authority, http11Name).send(good).wantEcho(goodEcho()) // accepts none of them
	first, leaves := spoken()
	second, _ := spoken()
	third, c := spoken()
	if first != http2Name || second != http2Name || third != http11Name {
		t.Fatalf("spoken are %s, %s and %s", first, second, third)
	}
	c.send(good).wantEcho(goodEcho())
	_ = leaves.Close()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		protocol, c := spoken()
		if protocol == http2Name {
			break
		}
		if _ = c.Close(); time.Now().After(deadline) {
			t.Fatal("the place of the first is not free")
		}
	}
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

// TestSlowBodyInHTTP2 checks that a slow body fails in HTTP/2 as in HTTP/1.
func TestSlowBodyInHTTP2(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(_ *site, config *Config) { config.RequestTimeout = 50 * time.Millisecond })
	r := doIncomplete(t, webClient(t, authority), s.url("/good"))
	if problem := notError(r.Response, r.body, models.CodeRequestTimeout); problem != "" {
		t.Errorf("%s in %d %s", problem, r.StatusCode, r.body)
	}
}

// doIncomplete posts a body of which nothing is sent over HTTP/2.
func doIncomplete(t *testing.T, c *http.Client, url string) reply {
	t.Helper()
	body, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	return doBody(t, c, url, body)
}
