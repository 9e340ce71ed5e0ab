package server

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plantstore/models"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds the wait for an event that must happen; usually it takes much less.
const patience = 30 * time.Second

// An echo is the response of the tests' handler.
type echo struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   string `json:"body"`
}

// A site is a server under test, with a handler that records its requests.
type site struct {
	*Server

	addr net.Addr
	stop context.CancelFunc
	done chan error // the result of Serve

	headerTime, idleTime time.Duration

	entered chan struct{} // a request to /wait or /stuck has come
	release chan struct{} // closed to let them continue

	mu     sync.Mutex
	served []string // the paths, in order
}

// testConfig has long time-outs.
func testConfig() Config {
	return Config{
		Logger:          slog.New(slog.DiscardHandler),
		Refused:         func(models.Code) {},
		RequestTimeout:  patience,
		ShutdownTimeout: patience,
	}
}

// start serves on a loopback port until the test ends.
func start(t testing.TB, change ...func(*site, *Config)) *site {
	t.Helper()
	return startOn(t, listen(t, "tcp", "127.0.0.1:0"), change...)
}

func listen(t testing.TB, network, address string) net.Listener {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func startOn(t testing.TB, ln net.Listener, change ...func(*site, *Config)) *site {
	t.Helper()
	s := &site{
		addr: ln.Addr(), done: make(chan error, 1),
		entered: make(chan struct{}, 2), release: make(chan struct{}),
	}
	config := testConfig()
	config.Handler = http.HandlerFunc(s.serve)
	for _, c := range change {
		c(s, &config)
	}
	s.Server = New(config)
	s.http.ReadHeaderTimeout, s.http.IdleTimeout = cmp.Or(s.headerTime, patience), cmp.Or(s.idleTime, patience)
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go func() {
		s.done <- s.Serve(ctx, ln)
		close(s.done)
	}()
	t.Cleanup(func() {
		cancel()
		if err, ok := <-s.done; ok && err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// paths returns the paths of the handled requests.
func (s *site) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.served)
}

// serve is the tests' handler. The path selects its behaviour.
func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.served = append(s.served, r.URL.Path)
	s.mu.Unlock()
	switch r.URL.Path {
	case "/early": // a response before the body
		respondJSON(w, http.StatusBadRequest, models.NewError(models.CodeUnauthorized, "early"))
		return
	case "/nothing":
		return
	case "/panic":
		panic("a bug")
	case "/wait":
		s.wait(w, r)
		return
	case "/header":
		w.Header().Set("X", r.Header.Get("X"))
	case "/large":
		_, _ = w.Write(make([]byte, 1<<20))
		return
	case "/stuck": // like a disk that hangs: it never gives up
		s.entered <- struct{}{}
		<-s.release
		return
	}
	echoBody(w, r)
}

// wait responds when it is released or its context ends.
func (s *site) wait(w http.ResponseWriter, r *http.Request) {
	content, _ := io.ReadAll(r.Body)
	s.entered <- struct{}{}
	select {
	case <-s.release:
		respondJSON(w, http.StatusOK, echo{r.Method, r.URL.Path, string(content)})
	case <-r.Context().Done():
		respondJSON(w, http.StatusBadRequest, models.NewError(models.CodeUnavailable, "given up"))
	}
}

// echoBody reads the body to its end and responds with it, or with the error.
func echoBody(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		respondJSON(w, http.StatusBadRequest, models.NewError(models.CodeRequestTimeout, "slow"))
	case err != nil:
		respondJSON(w, http.StatusBadRequest, models.NewError(models.CodeBadRequest, "bad body"))
	default:
		respondJSON(w, http.StatusOK, echo{r.Method, r.URL.Path, string(content)})
	}
}

func respondJSON(w http.ResponseWriter, status int, value any) {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	encoded = append(encoded, '\n')
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
	w.WriteHeader(status)
	_, _ = w.Write(encoded)
}

// A client is a raw connection to a site.
type client struct {
	net.Conn

	t  testing.TB
	in *bufio.Reader
}

func (s *site) dial(t testing.TB) *client {
	t.Helper()
	nc, err := new(net.Dialer).DialContext(t.Context(), s.addr.Network(), s.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &client{Conn: nc, t: t, in: bufio.NewReader(nc)}
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
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		c.t.Fatalf("%T cannot close its half", c.Conn)
	}
	if err := half.CloseWrite(); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// A reply is a response with its body.
type reply struct {
	*http.Response

	body string
}

// reply reads the response to a request with that method.
func (c *client) reply(method string) reply {
	c.t.Helper()
	response, err := http.ReadResponse(c.in, &http.Request{Method: method})
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
func (c *client) wantEcho(want echo) reply {
	c.t.Helper()
	r := c.reply(want.Method)
	var got echo
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.StatusCode != http.StatusOK || got != want {
		c.t.Fatalf("response %d %q, want 200 with %+v", r.StatusCode, r.body, want)
	}
	return r
}

// wantError reads an error response.
func (c *client) wantError(code models.Code) reply {
	c.t.Helper()
	r := c.reply(http.MethodGet)
	if problem := notError(r.Response, r.body, code); problem != "" {
		c.t.Fatalf("%s in response %d %q, want error %d", problem, r.StatusCode, r.body, code)
	}
	return r
}

// wantRefusal reads an error response of the server itself, after which it closes.
func (c *client) wantRefusal(code models.Code) reply {
	c.t.Helper()
	r := c.wantError(code)
	c.wantOwnHeader(r)
	c.wantEnd()
	return r
}

// wantOwnHeader checks the header of such a response (C1.6).
func (c *client) wantOwnHeader(r reply) {
	c.t.Helper()
	if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("X-Request-Id") == "" || !r.Close {
		c.t.Fatalf("header of a refusal: %v, close=%v", r.Header, r.Close)
	}
	if _, err := http.ParseTime(r.Header.Get("Date")); err != nil {
		c.t.Fatal(err)
	}
	if len(r.Header) != 5 {
		c.t.Fatalf("header of a refusal: %v, want five fields and Connection", r.Header)
	}
}

// wantEnd checks that the server closes the connection without another response.
func (c *client) wantEnd() {
	c.t.Helper()
	rest, err := io.ReadAll(c.in)
	if err != nil || len(rest) > 0 {
		c.t.Fatalf("got %q and %v, want the end of the connection", rest, err)
	}
}

// notError returns why a response is not an Error (C1.3), or "". Code 0 stands for any.
func notError(r *http.Response, body string, code models.Code) string {
	if r.StatusCode != http.StatusBadRequest {
		return "wrong status"
	}
	if r.Header.Get("Content-Type") != "application/json" {
		return "wrong type"
	}
	var got struct {
		Error   *models.Code `json:"error"`
		Message string       `json:"message"`
	}
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		return "no Error (" + err.Error() + ")"
	}
	if got.Error == nil || got.Message == "" || code != 0 && *got.Error != code {
		return "wrong Error"
	}
	if !strings.HasSuffix(body, "}\n") || r.ContentLength != int64(len(body)) {
		return "wrong end or length"
	}
	return ""
}
