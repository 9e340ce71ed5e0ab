package attack

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/certtest"
	"plantstore/models"
)

// A peer is the client's end of a connection to the server, with a token.
type peer struct {
	net.Conn

	t     testing.TB
	in    *bufio.Reader
	token string
}

// dialPeer connects to a server by TCP.
func dialPeer(t testing.TB, s *plantstore.Server, token string) *peer {
	t.Helper()
	_, address, _ := strings.Cut(s.BaseURL, "://")
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &peer{Conn: nc, t: t, in: bufio.NewReader(nc), token: token}
}

// send sends text.
func (p *peer) send(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p, text); err != nil {
		p.t.Fatal(err)
	}
}

// create sends the header of a create with these further fields, and body, which may be
// incomplete.
func (p *peer) create(body string, lines ...string) {
	p.t.Helper()
	p.send("POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + p.token + "\r\n" +
		strings.Join(lines, "\r\n") + "\r\n\r\n" + body)
}

// want reads a response, which is an Error of that code, or 200 if it is 0.
func (p *peer) want(step string, code models.Code) {
	p.t.Helper()
	response, err := http.ReadResponse(p.in, nil)
	if err != nil {
		p.t.Errorf("%s: %v", step, err)
		return
	}
	defer func() { _ = response.Body.Close() }()
	var failure models.Error
	err = json.NewDecoder(response.Body).Decode(&failure)
	_, _ = io.Copy(io.Discard, response.Body) // only the last header field
	if err != nil || failure.Code != code {
		p.t.Errorf("%s: %v, %d, error %d %q, want %d", step, err, response.StatusCode, failure.Code, failure.Message, code)
	}
}

// TestAnnouncedBodies announces many bodies of the maximum size without sending them. Other
// bodies of every size are accepted.
func TestAnnouncedBodies(t *testing.T) {
	t.Parallel()
	s := plantstore.Start(t, plantstore.Options{Env: []string{"REQUEST_TIMEOUT=1h", "LOG_LEVEL=error"}})
	token := s.Token()
	const size = 1 << 20
	for n := range 256 {
		p := dialPeer(t, s, token)
		body := ""
		if n%2 == 0 {
			body = `{"id":1,`
		}
		p.create(body, fmt.Sprint("Content-Length: ", size))
	}
	p := dialPeer(t, s, token)
	for id, length := range []int{100, 5000, 100_000, size} {
		body := fmt.Sprintf(`{"id":%d,"name":"`, id)
		body += strings.Repeat("x", length-len(body)-2) + `"}`
		p.create(body, fmt.Sprint("Content-Length: ", length))
		p.want(fmt.Sprintf("a plant of %d bytes", length), 0)
	}
}

// TestUnfinishedHeaders begins headers and does not end them, in HTTP/1 and HTTP/2. All
// connections are closed after five seconds, although the other time limits of the server are
// long.
func TestUnfinishedHeaders(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	env := []string{"REQUEST_TIMEOUT=1h", "LOG_LEVEL=error"}
	plain := plantstore.Start(t, plantstore.Options{Env: env})
	secure := plantstore.Start(t, plantstore.Options{Env: append(env, "TLS_CERT_FILE="+cert, "TLS_KEY_FILE="+key)})

	t.Run("HTTP/1", func(t *testing.T) {
		t.Parallel()
		p := dialPeer(t, plain, "")
		p.send("POST /plants HTTP/1.1\r\nHost: x\r\nX-Slow: ")
		p.drip("a", func() {
			p.want("a header without its end", models.CodeRequestTimeout)
			p.awaitEnd()
		})
	})
	const (
		settings    = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
		headers     = "\x00\x00\x02\x01\x00\x00\x00\x00\x01\x83\x87" // without END_HEADERS
		goesOn      = "\x00\x00\x06\x01\x04\x00\x00\x00\x01\x83\x87\x84\x41\x01x"
		next        = "\x00\x00\x02\x01\x00\x00\x00\x00\x03\x83\x87"
		continued   = "\x00\x00\x00\x09\x00\x00\x00\x00\x01"
		halfAHeader = "\x00\x00\x40\x01\x05\x00\x00\x00\x01\x83"
	)
	for name, text := range map[string][2]string{
		"headers alone":         {headers, ""},
		"slow continuations":    {headers, continued},
		"during a request":      {goesOn + next, ""},
		"a frame byte for byte": {halfAHeader, "\x80"},
	} {
		t.Run("HTTP/2, "+name, func(t *testing.T) {
			t.Parallel()
			p := dialPeer(t, secure, "")
			config := authority.Client("h2")
			config.ServerName = "localhost"
			p.Conn = tls.Client(p.Conn, config)
			p.in.Reset(p)
			p.send(http2.ClientPreface + settings + text[0])
			p.drip(text[1], p.awaitEnd)
		})
	}
}

// drip sends text repeatedly and slowly, until until returns.
func (p *peer) drip(text string, until func()) {
	p.t.Helper()
	ended, sent := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sent)
		for {
			select {
			case <-ended:
				return
			case <-time.After(200 * time.Millisecond): // slow on purpose
				_, _ = io.WriteString(p, text) // the server may have closed the connection
			}
		}
	}()
	until()
	close(ended)
	<-sent
}

// awaitEnd reads until the server has ended the connection.
func (p *peer) awaitEnd() {
	p.t.Helper()
	if _, err := io.Copy(io.Discard, p.in); os.IsTimeout(err) {
		p.t.Errorf("the server keeps the connection open: %v", err)
	}
}
