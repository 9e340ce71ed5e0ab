package server

import (
	"fmt"
	"go/build"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
	"plantstore/models"
)

// A refusal is a request that net/http does not pass to the handler, and the place in its source
// (Go 1.26) that writes the response. Empty: another request for one of these places.
type refusal struct {
	source   string
	request  string
	response string // of net/http
	code     models.Code
}

// refusals returns a request for every place in the source of net/http that writes a response, and
// others that the table of internal/conformance lacks.
func refusals() []refusal {
	const (
		replied  = `Fprintf(c.rwc, "HTTP/1.1 "+publicErr+errorHeaders+publicErr)`
		detailed = `Fprintf(c.rwc, "HTTP/1.1 %d %s: %s%s%d %s: %s", v.code, StatusText(v.code), v.text, errorHeaders, v.code, StatusText(v.code), v.text)`
	)
	return []refusal{
		{`badRequestError("missing required Host header")`, get("X: y"), "400 Bad Request: missing required Host header", 400},
		{`badRequestError("malformed Host header")`, get("Host: a b"), "400 Bad Request: malformed Host header", 400},
		{`badRequestError("invalid header name")`, host("X(Y): z"), "400 Bad Request", 400},
		{`badRequestError("invalid header value")`, host("X: a\x01b"), "400 Bad Request", 400},
		{`statusError{StatusHTTPVersionNotSupported, "unsupported protocol version"}`, "GET / HTTP/3.0\r\n\r\n", "505 HTTP Version Not Supported: un", 505},
		{detailed, get("Y: z"), "400 Bad Request: ", 400},
		{replied, host("X: " + strings.Repeat("a", 64<<10)), "431 Request Header Fields Too Large", 431},
		{replied, "nonsense\r\n\r\n", "400 Bad Request\r\n", 400},
		{`Fprintf(c.rwc, "HTTP/1.1 %d %s%sUnsupported transfer encoding", code, StatusText(code), errorHeaders)`, host("Transfer-Encoding: gzip"), "501 Not Implemented", 501},
		{`w.WriteHeader(StatusExpectationFailed)`, host("Expect: 200-ok", "X-Request-Id: mine"), "417 Expectation Failed", 417},
		// For TestPlainToTLS.
		{source: `WriteString(re.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")`},
		// Of other handlers: ServeMux and TimeoutHandler.
		{source: `w.WriteHeader(StatusBadRequest)`},
		{source: `w.WriteHeader(StatusServiceUnavailable)`},
		{source: `w.WriteHeader(StatusServiceUnavailable)`},

		{request: host(slices.Repeat([]string{"X: y"}, maxFields)...), code: 431}, // and Host
		{request: "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: y\r\n", 2000), code: 431},
		{request: "GET /\r\n", code: 400},
		{request: "GET / HTTP/1.2\r\nHost: x\r\n\r\n", code: 505},
		{request: "GET / HTTP/2.0\r\nHost: x\r\n\r\n", code: 505},
		{request: "PRI * HTTP/2.0\r\n\r\n" + good, code: 505},
		{request: "PRI * HTTP/2.0\r\nHost: x\r\nContent-Length: 9\r\n\r\n" + good, code: 505},
		{request: host("Transfer-Encoding:"), code: 501},
		{request: host("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), code: 501},
		{request: host("Transfer-Encoding: chunked", "Trailer: Content-Length"), code: 400},
		{request: post("/", "hi", "Expect: 200-ok", "Content-Length: 2"), code: 417},
		{request: "GET / HTTP/1.0\r\nExpect: x\r\n\r\n", code: 417},
	}
}

// TestRefusals checks that what net/http refuses gets an Error and closes the connection, for the
// first request on it and a later one.
func TestRefusals(t *testing.T) {
	t.Parallel()
	bare := httptest.NewUnstartedServer(http.NotFoundHandler())
	bare.Config.MaxHeaderBytes = maxHeaderBytes
	bare.Start()
	t.Cleanup(bare.Close)
	netHTTP, s := &site{addr: bare.Listener.Addr()}, start(t)
	for _, r := range refusals() {
		if r.request == "" {
			continue
		}
		t.Run(fmt.Sprintf("%.60q", r.request), func(t *testing.T) {
			t.Parallel()
			if r.response != "" {
				want := "HTTP/1.1 " + r.response
				if line, err := netHTTP.dial(t).send(r.request).in.Peek(len(want)); err != nil || string(line) != want {
					t.Errorf("net/http responds %q, %v, want %q", line, err, want)
				}
			}
			s.dial(t).send(r.request).wantRefusal(r.code)
			c := s.dial(t).send(good + host() + r.request)
			c.wantEcho(goodEcho)
			c.wantEcho("GET / ")
			c.wantRefusal(r.code)
			if served := s.paths(); slices.Contains(served, "*") {
				t.Errorf("served %q", served)
			}
		})
	}
}

// TestPlacesOfRefusals fails if there is another place in the source of net/http that writes a
// response than those of refusals, as after an upgrade of Go: the connection may not replace it.
func TestPlacesOfRefusals(t *testing.T) {
	t.Parallel()
	directory := must.Get(build.Import("net/http", "", build.FindOnly))(t)
	source := must.Get(os.ReadFile(filepath.Join(directory.Dir, "server.go")))(t)
	writes := regexp.MustCompile(`badRequestError\("[^"]*"\)|statusError\{\w+, "[^"]*"\}|(?:Fprintf\(c\.rwc|WriteString\(re\.Conn), .*|\bw\.WriteHeader\(Status(?:[^O]|O[^K])\w+\)`)
	got := writes.FindAllString(string(source), -1)
	var want []string
	for _, r := range refusals() {
		if r.source != "" {
			want = append(want, r.source)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s writes responses at other places in net/http/server.go than Go 1.26 (-known +found):\n%s"+
			"Add each new place to refusals with a request that reaches it. If TestRefusals then fails, the connection (conn.go) must "+
			"replace that response. Until then, build with Go 1.26.", runtime.Version(), diff)
	}
}

// TestResponsesAreUnchanged checks that a response of the handler is not replaced, even if a write of
// net/http begins like a refusal.
func TestResponsesAreUnchanged(t *testing.T) {
	t.Parallel()
	const fake = "HTTP/1.1 431 Request Header Fields Too Large\r\n"
	s := start(t, handler(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(2*len(fake))) // else each piece would begin with its size
		for range 2 {
			_, _ = io.WriteString(w, fake)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	s.dial(t).send(host()).wantEcho(fake + fake)
}
