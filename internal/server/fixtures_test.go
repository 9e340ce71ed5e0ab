package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/models"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

const (
	// patience bounds the wait for an event that must happen; usually it takes much less. It ends before
	// that of the watchdog, so that the test that waits fails with its name.
	patience = 20 * time.Second

	good     = "POST /good HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
	goodEcho = "POST /good hi"
)

// get is a GET with these header lines.
func get(lines ...string) string {
	return "GET / HTTP/1.1\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// host is get with a Host.
func host(lines ...string) string { return get(append([]string{"Host: x"}, lines...)...) }

// post is a POST to path with these header lines and body.
func post(path, body string, lines ...string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(lines, "", ""), "\r\n") + body
}

func chunked(path, body string) string { return post(path, body, "Transfer-Encoding: chunked") }

func sized(path, body string) string {
	return post(path, body, fmt.Sprint("Content-Length: ", len(body)))
}

// An endless is an input that repeats a text.
type endless struct{ text string }

func (e endless) Read(p []byte) (int, error) { return copy(p, e.text), nil }

// A site is a server under test, with a handler that records its requests.
type site struct {
	*Server

	addr net.Addr
	pipe pipe        // instead of addr, if not nil
	tls  *tls.Config // of clients
	stop context.CancelFunc
	done chan error // the result of Serve

	idleTime time.Duration

	entered chan struct{} // a request to /wait or /stuck has come
	release chan struct{} // closed to let them continue

	mu     sync.Mutex
	served []string // the paths, in order
}

// start serves on a loopback port until the test ends, with long time-outs.
func start(t *testing.T, change ...func(*site, *Config)) *site {
	t.Helper()
	ln := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	return startOn(t, ln, change...)
}

// inBubble runs a test with a site in a bubble of synctest, so that its time-outs do not depend on
// the speed of the machine.
func inBubble(t *testing.T, test func(t *testing.T, s *site), change ...func(*site, *Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ln := make(pipe)
		test(t, startOn(t, ln, append(change, func(s *site, _ *Config) { s.pipe = ln })...))
	})
}

// A pipe is a listener in memory.
type pipe chan net.Conn

func (p pipe) Accept() (net.Conn, error) {
	if nc, open := <-p; open {
		return duplexPipe{nc}, nil
	}
	return nil, net.ErrClosed
}

func (p pipe) Close() error {
	close(p)
	return nil
}

func (pipe) Addr() net.Addr { return &net.TCPAddr{} }

// A duplexPipe is the server's end of a connection in memory.
type duplexPipe struct{ net.Conn }

func (duplexPipe) CloseWrite() error { return nil } // it has no halves

// startOn is [start] for a listener.
func startOn(t *testing.T, ln net.Listener, change ...func(*site, *Config)) *site {
	t.Helper()
	s := &site{addr: ln.Addr(), done: make(chan error, 1), entered: make(chan struct{}, 2), release: make(chan struct{})}
	config := Config{
		Handler: s, Logger: slog.New(slog.DiscardHandler), Refused: func(*models.Error, string, string) {},
		HeaderTimeout: patience, RequestTimeout: patience, ShutdownTimeout: patience,
	}
	for _, c := range change {
		c(s, &config)
	}
	s.Server = New(config)
	s.http.IdleTimeout = cmp.Or(s.idleTime, patience)
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go func() {
		s.done <- s.Serve(ctx, ln)
		close(s.done)
	}()
	t.Cleanup(func() { s.wantStopped(t) })
	return s
}

// only limits the connections of the site.
func only(connections int) func(*site, *Config) {
	return func(_ *site, config *Config) { config.MaxConnections = connections }
}

// logTo makes the site log to a buffer.
func logTo(log *bytes.Buffer) func(*site, *Config) {
	return func(_ *site, config *Config) { config.Logger = slog.New(slog.NewTextHandler(log, nil)) }
}

// handler replaces the handler of the site.
func handler(h http.HandlerFunc) func(*site, *Config) {
	return func(_ *site, config *Config) { config.Handler = h }
}

// wantStopped shuts the site down and checks the error of Serve.
func (s *site) wantStopped(t *testing.T) {
	t.Helper()
	s.stop()
	if err := <-s.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// paths returns the paths of the handled requests.
func (s *site) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.served)
}

// ServeHTTP responds with the method, the path and the body, or an Error. Some paths have another
// response.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.served = append(s.served, r.URL.Path)
	s.mu.Unlock()
	fail := func(code models.Code) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(models.NewError(code, "a failure").Body())
	}
	switch r.URL.Path {
	case "/early": // a response before the body
		fail(models.CodeUnauthorized)
		return
	case "/panic":
		panic("a bug")
	case "/large":
		_, _ = w.Write(make([]byte, 1<<20))
		return
	case "/stuck": // like a disk that hangs: it never gives up
		s.entered <- struct{}{}
		<-s.release
		return
	}
	content, err := io.ReadAll(r.Body)
	if r.URL.Path == "/wait" {
		s.entered <- struct{}{}
		select {
		case <-s.release:
		case <-r.Context().Done():
			fail(models.CodeUnavailable)
			return
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		fail(models.CodeRequestTimeout)
	case err != nil:
		fail(models.CodeBadRequest)
	default:
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path+" "+string(content))
	}
}

// A client is a raw connection to a site.
type client struct {
	net.Conn

	t  *testing.T
	in *bufio.Reader
}

func (s *site) dial(t *testing.T) *client {
	t.Helper()
	nc := must.Get(s.connect(t.Context()))(t)
	t.Cleanup(func() { _ = nc.Close() })
	must.Do(t, nc.SetDeadline(time.Now().Add(patience)))
	return &client{Conn: nc, t: t, in: bufio.NewReader(nc)}
}

func (s *site) connect(ctx context.Context) (net.Conn, error) {
	if s.pipe == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", s.addr.String())
	}
	client, server := net.Pipe()
	s.pipe <- server
	return client, nil
}

// send writes text in one segment.
func (c *client) send(text string) *client {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatalf("sending %.60q: %v", text, err)
	}
	return c
}

// closeHalf ends the input of the server.
func (c *client) closeHalf() *client {
	c.t.Helper()
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// A reply is a response with its body.
type reply struct {
	*http.Response

	body string
}

// reply reads a response.
func (c *client) reply() reply {
	c.t.Helper()
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatalf("reading a response: %v", err)
	}
	content, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		c.t.Fatalf("reading the body of a response: %v", err)
	}
	return reply{response, string(content)}
}

// wantEcho reads a response of the tests' handler.
func (c *client) wantEcho(want string) reply {
	c.t.Helper()
	r := c.reply()
	if r.StatusCode != http.StatusOK || r.body != want {
		c.t.Fatalf("response %d %.200q, want 200 %.200q", r.StatusCode, r.body, want)
	}
	return r
}

// wantError reads an error response (C1.3).
func (c *client) wantError(code models.Code) reply {
	c.t.Helper()
	r := c.reply()
	var got models.Error
	err := json.Unmarshal([]byte(r.body), &got)
	if err != nil || r.StatusCode != http.StatusBadRequest || r.Header.Get("Content-Type") != "application/json" || got.Code != code || got.Message == "" {
		c.t.Fatalf("response %d %v %q, %v, want error %d", r.StatusCode, r.Header, r.body, err, code)
	}
	return r
}

// wantRefusal reads an error response of the server itself, after which it closes.
func (c *client) wantRefusal(code models.Code) reply {
	c.t.Helper()
	r := c.wantError(code)
	want := []string{"Content-Length", "Content-Type", "Date", "X-Content-Type-Options", "X-Request-Id"} // C1.6
	if code == models.CodeUnavailable {
		want = slices.Insert(want, 3, "Retry-After")
	}
	if got := slices.Sorted(maps.Keys(r.Header)); !r.Close || !slices.Equal(got, want) || r.Header.Get("X-Request-Id") == "mine" {
		c.t.Fatalf("header of a refusal: %v, closes: %v", r.Header, r.Close)
	}
	c.wantEnd()
	return r
}

// wantEnd checks that the server closes the connection without another response.
func (c *client) wantEnd() {
	c.t.Helper()
	rest, err := io.ReadAll(c.in)
	if err != nil || len(rest) > 0 {
		c.t.Fatalf("got %q and %v, want the end of the connection", rest, err)
	}
}

// wantLateEnd is wantEnd in a bubble, after exactly five seconds: the time limits of a header and of
// reading after the last response.
func (c *client) wantLateEnd() {
	c.t.Helper()
	began := time.Now()
	c.wantEnd()
	if took := time.Since(began); took != 5*time.Second {
		c.t.Errorf("the connection ends after %v, want 5 s", took)
	}
}

// wantLate checks that a slow header gets an Error in a bubble after exactly five seconds, and that the
// connection is closed.
func (c *client) wantLate() {
	c.t.Helper()
	began := time.Now()
	c.wantError(models.CodeRequestTimeout)
	if took := time.Since(began); took != 5*time.Second {
		c.t.Errorf("the response comes after %v, want 5 s", took)
	}
	c.wantLateEnd()
}
