package attack

import (
	"crypto/tls"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
	"plantstore/models"
)

// A peer is the client's end of a connection to the server, with a token.
type peer struct {
	*plantstore.Conn

	t     testing.TB
	token string
}

// dialPeer connects to a server by TCP.
func dialPeer(t testing.TB, s *plantstore.Server, token string) *peer {
	t.Helper()
	return &peer{plantstore.Dial(t, s.BaseURL), t, token}
}

// send sends text.
func (p *peer) send(text string) {
	p.t.Helper()
	must.Do(p.t, p.Send(text))
}

// create sends the header of a create with these further fields, and body, which may be
// incomplete.
func (p *peer) create(body string, lines ...string) {
	p.t.Helper()
	p.send(plantstore.Header(p.token, lines...) + body)
}

// want reads a response, which is an Error of that code, or 200 if it is 0.
func (p *peer) want(step string, code models.Code) {
	p.t.Helper()
	if r, err := p.Receive(); err != nil || r.Code != code {
		p.t.Errorf("%s: %v, %d %s, want error %d", step, err, r.Status, r.Body, code)
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

// TestBodiesOfOneSubject holds as much memory for bodies as one token subject may. Large bodies for
// another subject are accepted.
func TestBodiesOfOneSubject(t *testing.T) {
	t.Parallel()
	s := plantstore.Start(t, plantstore.Options{Env: []string{"REQUEST_TIMEOUT=1h", "LOG_LEVEL=error"}})
	const size, share = 1 << 20, 16
	holder := s.Token("--subject", "holder")
	body := func(id int) string {
		b := fmt.Sprintf(`{"id":%d,"name":"`, id)
		return b + strings.Repeat("x", size-len(b)-2) + `"}`
	}
	length := fmt.Sprint("Content-Length: ", size)
	for id := range share {
		dialPeer(t, s, holder).create(body(id)[:size-1], length)
	}
	p := dialPeer(t, s, holder)
	for refused := false; !refused; { // when the server has read them
		probe := dialPeer(t, s, holder)
		probe.create(strings.Repeat(" ", 5<<10), "Content-Length: 5120")
		refused = strings.Contains(must.Get(probe.Receive())(t).Message, "share of the memory")
	}
	p.create(body(share), length)
	p.want("a large body for the same subject", models.CodeUnavailable)
	p = dialPeer(t, s, s.Token("--subject", "other"))
	p.create(body(share), length)
	p.want("a large body for another subject", 0)
}

// TestUnfinishedHeaders begins a header and does not end it. The connection is closed after five
// seconds without a response, although the other time limits of the server are long.
func TestUnfinishedHeaders(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	env := []string{"REQUEST_TIMEOUT=1h", "LOG_LEVEL=error"}
	plain := plantstore.Start(t, plantstore.Options{Env: env})
	secure := plantstore.Start(t, plantstore.Options{Env: append(env, "TLS_CERT_FILE="+cert, "TLS_KEY_FILE="+key)})
	config := authority.Client()
	config.ServerName = "localhost"
	for name, s := range map[string]*plantstore.Server{"plain": plain, "TLS": secure} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := dialPeer(t, s, "")
			if s == secure {
				p.Wrap(tls.Client(p.Conn.Conn, config))
			}
			p.send("POST /plants HTTP/1.1\r\nHost: x\r\nX-Slow: ")
			p.drip("a", p.awaitEnd)
		})
	}
}

// TestShutdownWithDeafClient pipelines requests and never reads. The server exits with code 0.
func TestShutdownWithDeafClient(t *testing.T) {
	t.Parallel()
	s := plantstore.Start(t, plantstore.Options{Env: []string{"SHUTDOWN_TIMEOUT=1s"}})
	p := dialPeer(t, s, "")
	p.send(strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 400)) // the responses are longer than all buffers
	must.Get(p.In.Peek(1))(t)
	s.Stop() // it checks the exit code
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
	if n, err := io.Copy(io.Discard, p.In); os.IsTimeout(err) || n > 0 {
		p.t.Errorf("the server sends %d bytes, %v, want the end of the connection", n, err)
	}
}
