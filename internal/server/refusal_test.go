package server

import (
	"go/build"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/models"
)

const (
	good     = "POST /good HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
	goodLast = "POST /good HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"
)

func goodEcho() echo { return echo{http.MethodPost, "/good", "hi"} }

// get is a GET with these header lines.
func get(lines ...string) string {
	return "GET / HTTP/1.1\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// host is get with a Host.
func host(lines ...string) string { return get(append([]string{"Host: x"}, lines...)...) }

// A refused is a request that net/http does not pass to the handler.
type refused struct {
	name string
	text string
	code models.Code
}

func refusedRequests() []refused {
	huge := "X: " + strings.Repeat("a", 64<<10)
	return []refused{
		{"one word", "nonsense\r\n\r\n", 400},
		{"HTTP/0.9", "GET /\r\n", 400},
		{"no method", " / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"target without slash", "GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"target with bad escape", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"version in lower case", "GET / http/1.1\r\nHost: x\r\n\r\n", 400},
		{"version 0.9", "GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505},
		{"version 1.2", "GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505},
		{"version 2.0", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
		{"preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
		{"preface of HTTP/2 and a request", "PRI * HTTP/2.0\r\n\r\n" + good, 505},
		{"preface of HTTP/2 with a body", "PRI * HTTP/2.0\r\nHost: x\r\nContent-Length: 9\r\n\r\n" + good, 505},
		{"two Hosts", get("Host: x", "Host: x"), 400},
		{"header without colon", host("nonsense"), 400},
		{"first header line folded", get(" X: y", "Host: x"), 400},
		{"space before colon", host("X : y"), 400},
		{"control character in header value", host("X: a\x7fb"), 400},
		{"header too large", host(huge), 431},
		{"header of many lines", host(strings.Split(strings.Repeat("X: y,", 20_000), ",")...), 431},
		{"request line too large", "GET /" + huge[3:] + " HTTP/1.1\r\nHost: x\r\n\r\n", 431},
		{"identity coding", host("Transfer-Encoding: identity"), 501},
		{"empty coding", host("Transfer-Encoding:"), 501},
		{"two codings", host("Transfer-Encoding: gzip, chunked"), 501},
		{"two lines of codings", host("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), 501},
		{"two lengths", host("Content-Length: 1", "Content-Length: 2"), 400},
		{"signed length", host("Content-Length: +1"), 400},
		{"bad trailer", host("Transfer-Encoding: chunked", "Trailer: Content-Length"), 400},
		{"unknown expectation with body", host("Expect: 200-ok", "Content-Length: 2") + "hi", 417},
		{"unknown expectation in HTTP/1.0", "GET / HTTP/1.0\r\nExpect: x\r\n\r\n", 417},
		{"junk", "\x00\xff\xfe\x01\x80\r\n\r\n", 400},
	}
}

// TestRefusals checks that what net/http refuses gets an Error and closes the connection, for the
// first request on it and a later one.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, r := range refusedRequests() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s.dial(t).send(r.text).wantRefusal(r.code)
		})
		t.Run(r.name+" pipelined", func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(good + host() + r.text)
			c.wantEcho(goodEcho())
			c.wantEcho(echo{http.MethodGet, "/", ""})
			c.wantRefusal(r.code)
		})
	}
	if served := s.paths(); slices.Contains(served, "*") {
		t.Errorf("served %q", served)
	}
}

// TestPieceOfResponse checks that a response of the handler is not replaced if net/http writes it in
// pieces (of 4096 bytes), one of which begins like a response of its own.
func TestPieceOfResponse(t *testing.T) {
	t.Parallel()
	c := start(t).dial(t)
	for n := range 400 {
		value := strings.Repeat("a", 3700+n) + "HTTP/1.1 405 x"
		c.send("GET /header HTTP/1.1\r\nHost: x\r\nX: " + value + "\r\n\r\n")
		if r := c.wantEcho(echo{http.MethodGet, "/header", ""}); r.Header.Get("X") != value {
			t.Fatalf("%d bytes of the header field, want %d", len(r.Header.Get("X")), len(value))
		}
	}
}

// TestPlacesOfRefusals provokes every response that net/http writes itself, by each place in its
// source (Go 1.26) that writes one. It fails if there is another place, as after an upgrade of Go.
func TestPlacesOfRefusals(t *testing.T) {
	t.Parallel()
	const (
		replied  = `Fprintf(c.rwc, "HTTP/1.1 "+publicErr+errorHeaders+publicErr)`
		detailed = `Fprintf(c.rwc, "HTTP/1.1 %d %s: %s%s%d %s: %s", v.code, StatusText(v.code), v.text, errorHeaders, v.code, StatusText(v.code), v.text)`
	)
	places := []struct {
		source   string
		request  string
		response string // of net/http
		code     models.Code
	}{
		{`badRequestError("missing required Host header")`, get("X: y"), "400 Bad Request: missing required Host header", 400},
		{`badRequestError("malformed Host header")`, get("Host: a b"), "400 Bad Request: malformed Host header", 400},
		{`badRequestError("invalid header name")`, host("X(Y): z"), "400 Bad Request", 400},
		{`badRequestError("invalid header value")`, host("X: a\x01b"), "400 Bad Request", 400},
		{`statusError{StatusHTTPVersionNotSupported, "unsupported protocol version"}`, "GET / HTTP/3.0\r\n\r\n", "505 HTTP Version Not Supported: un", 505},
		{detailed, get("X: y"), "400 Bad Request: ", 400},
		{replied, host("X: " + strings.Repeat("a", 64<<10)), "431 Request Header Fields Too Large", 431},
		{replied, "nonsense\r\n\r\n", "400 Bad Request\r\n", 400},
		{`Fprintf(c.rwc, "HTTP/1.1 %d %s%sUnsupported transfer encoding", code, StatusText(code), errorHeaders)`, host("Transfer-Encoding: gzip"), "501 Not Implemented", 501},
		{`w.WriteHeader(StatusExpectationFailed)`, host("Expect: 200-ok"), "417 Expectation Failed", 417},
		// For TestPlainToTLS.
		{source: `WriteString(re.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")`},
		// Of other handlers: ServeMux and TimeoutHandler.
		{source: `w.WriteHeader(StatusBadRequest)`},
		{source: `w.WriteHeader(StatusServiceUnavailable)`},
		{source: `w.WriteHeader(StatusServiceUnavailable)`},
	}
	var want []string
	bare, s := startBare(t), start(t)
	for _, place := range places {
		want = append(want, place.source)
		if place.request == "" {
			continue
		}
		if line, err := bare.dial(t).send(place.request).in.Peek(len("HTTP/1.1 " + place.response)); err != nil || string(line[len("HTTP/1.1 "):]) != place.response {
			t.Errorf("%s: net/http responds %q, %v, want %q", place.source, line, err, place.response)
		}
		s.dial(t).send(place.request).wantRefusal(place.code)
	}
	writes := regexp.MustCompile(`badRequestError\("[^"]*"\)|statusError\{\w+, "[^"]*"\}|(?:Fprintf\(c\.rwc|WriteString\(re\.Conn), .*|\bw\.WriteHeader\(Status(?:[^O]|O[^K])\w+\)`)
	got := writes.FindAllString(netHTTPServer(t), -1)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places that write a response in net/http/server.go (-known +found):\n%s", diff)
	}
}

// netHTTPServer returns the source of net/http's server.
func netHTTPServer(t *testing.T) string {
	t.Helper()
	directory, err := build.Import("net/http", "", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(directory.Dir, "server.go"))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// startBare starts net/http's own server.
func startBare(t *testing.T) *site {
	t.Helper()
	ln := listen(t, "tcp", "127.0.0.1:0")
	s := http.Server{MaxHeaderBytes: 32 << 10, ReadHeaderTimeout: patience, Handler: http.NotFoundHandler()}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Serve(ln) }()
	t.Cleanup(func() { _ = s.Close(); <-ended })
	return &site{addr: ln.Addr()}
}

// TestCORSOfRefusals checks that an Error in place of a response of net/http has the configured
// CORS header, and a new request id (C1.6, C3.19).
func TestCORSOfRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *site, c *Config) { c.CORS = http.Header{"Access-Control-Allow-Origin": {"*"}} })
	r := s.dial(t).send(host("Expect: x", "X-Request-Id: mine")).wantError(417)
	if id := r.Header.Get("X-Request-Id"); r.Header.Get("Access-Control-Allow-Origin") != "*" || id == "" || id == "mine" {
		t.Errorf("header %v", r.Header)
	}
}

// TestResponsesAreUnchanged checks that a response of the handler that contains text like that of
// net/http is not replaced, wherever the borders of the writes are.
func TestResponsesAreUnchanged(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *site, config *Config) {
		config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			content, _ := io.ReadAll(r.Body)
			for piece := range slices.Chunk(content, 512) {
				_, _ = w.Write(piece)
				_ = http.NewResponseController(w).Flush()
			}
		})
	})
	const fake = `HTTP/1.1 431 Request Header Fields Too Large\r\n`
	for pad := range len(fake) {
		body := strings.Repeat("a", pad) + strings.Repeat(fake, 100)
		if r := s.dial(t).send(sized("/", body)).reply(http.MethodPost); r.StatusCode != http.StatusOK || r.body != body {
			t.Fatalf("%d: status %d, %d bytes, want the %d of the body", pad, r.StatusCode, len(r.body), len(body))
		}
	}
}
