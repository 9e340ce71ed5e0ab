package conformance

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/internal/must"
	"plantstore/internal/ratelimit"
)

func TestRunCannotStart(t *testing.T) {
	t.Parallel()
	o := serveTiny(t, nil)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	const jwt = "eyJhbGciOiJub25lIn0.e30.c2ln"
	store := &tiny{plants: map[int64]string{}}
	picky := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+jwt {
			r.Header.Set("Authorization", "Bearer "+goodToken)
		}
		store.ServeHTTP(w, r)
	}))
	t.Cleanup(picky.Close)
	another := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(another.Close)
	login := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/plants" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		http.Redirect(w, r, "/login", http.StatusFound)
	}))
	t.Cleanup(login.Close)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"plain to TLS":   {func(o *Options) { o.URL = "http://" + secure.Listener.Addr().String() }, "uses TLS"},
		"another scheme": {func(o *Options) { o.URL = "ftp://host" }, "want http://host"},
		"no scheme":      {func(o *Options) { o.URL = "localhost:8080" }, "want http://host"},
		"negative limit": {func(o *Options) { o.MaxBodyBytes = -1 }, "negative"},
		"negative wait":  {func(o *Options) { o.Wait = -1 }, "negative"},
		"no server":      {func(o *Options) { o.URL = closed.URL }, "does not respond"},
		"not trusted":    {func(o *Options) { o.URL = secure.URL }, "--ca-file"},
		"a redirect":     {func(o *Options) { o.URL = login.URL }, `(status 302 to "/login")`},
		"a bare refusal": {func(o *Options) { o.URL = login.URL + "/api" }, "refuses the token given: status 403"},
		"no such path":   {func(o *Options) { o.URL = another.URL }, "has no POST /plants (404)"},
		"no origin":      {func(o *Options) { o.Origin = "foo" }, `origin "foo": want`},
		"no such rule":   {func(o *Options) { o.Rules = []string{"C2.12", "C9"} }, `rule "C9": want a rule such as C2.12`},
		"no bare origin": {func(o *Options) { o.Origin = "https://a/" }, `origin "https://a/": want`},
		"wrong secret":   {func(o *Options) { o.URL, o.Secret, o.Token = picky.URL, []byte("another"), jwt }, "refuses a token that is signed with the secret"},
		"token refused":  {func(o *Options) { o.Token = "bad" }, "refuses the token"},
	} {
		o := o
		test.change(&o)
		report, err := Run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), test.want) || len(report.Results) > 0 {
			t.Errorf("%s: %d results, error %v, want %q", name, len(report.Results), err, test.want)
		}
	}
}

// TestRunServerExits checks that a server that exits during a run makes the run neither hang
// nor pass.
func TestRunServerExits(t *testing.T) {
	t.Parallel()
	var served atomic.Int64
	var s *httptest.Server
	store := &tiny{plants: map[int64]string{}}
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		store.ServeHTTP(w, r)
		if served.Add(1) == 2 { // after the probe
			_ = s.Listener.Close()
		}
	}))
	t.Cleanup(s.Close)
	report, err := run(t.Context(), Options{URL: s.URL, Token: goodToken}, Cases())
	if want := s.URL + " has not responded in 10 cases in a row; the last response was to C1.1: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if n := report.tally(""); n[Failed] == 0 || n[Failed] > 100 {
		t.Errorf("%v, want the others not run", n)
	}
}

// TestRunServerHangs checks that a server that accepts connections and never responds ends a run, and
// that one response in between begins another row.
func TestRunServerHangs(t *testing.T) {
	t.Parallel()
	listener := httptest.NewUnstartedServer(nil).Listener
	t.Cleanup(func() { _ = listener.Close() })
	r := must.Get(newRunner(Options{URL: "http://" + listener.Addr().String(), Token: goodToken, Timeout: 10 * time.Millisecond}))(t)
	report := Report{Results: r.runAll(t.Context(), Cases())}
	if n := report.tally(""); n[Failed] < mostSilent || n[Failed] > mostSilent+workers {
		t.Errorf("%v, want %d to %d failed, and the others not run", n, mostSilent, mostSilent+workers)
	}

	r.silent.Store(mostSilent - 1)
	o := serveTiny(t, nil)
	r.address, r.Timeout = strings.TrimPrefix(o.URL, "http://"), o.Timeout
	if got := r.runCase(t.Context(), one("C1.2", "create", good(), fern()), r.values); got.Outcome != Passed || r.silent.Load() != 0 {
		t.Errorf("after a response, %s %s, %d in a row", got.Outcome, got.Reason, r.silent.Load())
	}

	r.silent.Store(mostSilent)
	if r.countSilent(true, nil); !r.ended(t.Context()) { // a case in progress got a response
		t.Error("the run goes on after its end")
	}
}

// TestFailFast checks that a run ends after the first deviation, except for the cases in progress.
func TestFailFast(t *testing.T) {
	t.Parallel()
	o := serveTiny(t, func(_ *http.Request, a *reply) {
		a.body = strings.Replace(a.body, "fern", "moss", 1)
	})
	o.FailFast = true
	report, err := run(t.Context(), o, slices.Repeat([]Case{one("C1.2", "create", good(), fern())}, 100))
	if n := report.tally(""); err != nil || n[Failed] == 0 || n[Failed] > workers {
		t.Errorf("%v, %v, want 1 to %d failed", err, n, workers)
	}
	if why, want := report.whyNotRun(), fmt.Sprintf("%d (stopped)", report.tally("")[NotRun]); len(why) != 1 || why[0] != want {
		t.Errorf("not run: %q, want %s", why, want)
	}
}

// TestEndlessResponses checks that of a response at most 64 KiB of header and 1 MiB of body are
// read.
func TestEndlessResponses(t *testing.T) {
	t.Parallel()
	for name, endless := range map[string]string{
		"a header": "HTTP/1.1 200 OK\r\n", "interim responses": "", "a field": "HTTP/1.1 200 OK\r\na: ",
		"a body": "HTTP/1.1 200 OK\r\n\r\n", "chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		piece := map[string]string{"interim responses": "HTTP/1.1 100 Continue\r\n\r\n", "chunks": "1\r\na\r\n", "a header": "a: b\r\n"}[name]
		client, server := net.Pipe()
		sent := make(chan int)
		go func() {
			n, _ := io.WriteString(server, endless)
			for err := error(nil); err == nil; {
				var m int
				m, err = io.WriteString(server, strings.Repeat(cmp.Or(piece, "a"), 1000))
				n += m
			}
			sent <- n
		}()
		l := &conn{Conn: client}
		l.in = bufio.NewReader(l)
		_, err := l.receive(Request{})
		_ = client.Close()
		if n := <-sent; !errors.Is(err, errTooLong) || n > maxHeader+maxBody+4<<10 {
			t.Errorf("%s: %v after %d bytes", name, err, n)
		}
	}
}

func TestUnmetRequirements(t *testing.T) {
	t.Parallel()
	o := serveTiny(t, nil)
	for _, c := range Cases() {
		if c.Needs == 0 {
			continue
		}
		o := o
		if c.Needs == NeedForeign {
			o.Origin = "*"
		}
		if r := runOne(t, o, c); r.Outcome != NotRun || r.Reason == "" {
			t.Fatalf("%s %s: %s %q, want not run with a reason", c.Rule, c.Name, r.Outcome, r.Reason)
		}
	}
	for name, c := range map[string]Case{
		"the token is not a JWT": one("", "", good().bearing(Token{Given: true, Bend: flipBit}), badToken()),
		"the limit is too low":   one("", "", post(strings.Repeat(" ", 2<<20)), fails(400)),
	} {
		if r := runOne(t, o, c); r.Outcome != NotRun {
			t.Errorf("%s: %s, want not run", name, r.Outcome)
		}
	}
}

// TestReportHasNoCredentials checks that no report contains a credential (C4.25), nor a name in double braces.
func TestReportHasNoCredentials(t *testing.T) {
	t.Parallel()
	o := serveTiny(t, func(_ *http.Request, a *reply) {
		a.body = strings.ReplaceAll(a.body, "required", "required; you sent the-very-token and the-very-secret")
	})
	o.Token, o.Secret = "the-very-token", []byte("the-very-secret")
	r := must.Get(newRunner(o))(t)
	for _, c := range Cases() {
		shown := strings.Join(slices.Concat([]string{c.Name}, c.sent(r.values.shown()), c.wanted(r.values.shown())), "\n")
		if strings.Contains(shown, "the-very-") || names.MatchString(shown) {
			t.Fatalf("%s %s shows a credential or a name:\n%s", c.Rule, c.Name, shown)
		}
	}
	if got := r.values.redact("the-very-token the-very-secret"); got != "$TOKEN REDACTED" {
		t.Errorf("redacted %q", got)
	}
	for credential, want := range map[string]string{
		"test": "a test of password", "password": "a test of $TOKEN", "passwor": "a test of password", "test of ": "a $TOKENpassword",
		"est of passwo": "a test of password", "test of password": "a $TOKEN", "est of password": "a test of password", "": "a test of password",
	} {
		if got := hide("a test of password", credential, "$TOKEN"); got != want {
			t.Errorf("without %q: %q, want %q", credential, got, want)
		}
	}
}

// TestURL checks that a path in the URL comes before /plants, and a port is optional.
func TestURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string][2]string{
		"http://a":               {"a:80", ""},
		"https://a/":             {"a:443", ""},
		"http://a:8080/v1":       {"a:8080", "/v1"},
		"http://[::1]:9/x%2Fy/":  {"[::1]:9", "/x%2Fy"},
		"https://[fe80::1]/v1/x": {net.JoinHostPort("fe80::1", "443"), "/v1/x"},
	} {
		r, err := newRunner(Options{URL: url, Token: "t"})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got := [2]string{r.address, r.values.path}; got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// TestConformanceMissingRateLimit checks that a missing limit is a deviation.
func TestConformanceMissingRateLimit(t *testing.T) {
	t.Parallel()
	o := serveTiny(t, nil)
	o.RateLimit, o.Timeout = ratelimit.Rate{Requests: 1_000_000, Per: time.Second}, 500*time.Millisecond
	if r := runOne(t, o, limitCases()[0]); r.Outcome != Failed || !strings.Contains(r.Reason, "no error 429") {
		t.Errorf("%s %q, want failed", r.Outcome, r.Reason)
	}
}

// TestRaceOverRateLimit checks that no more requests race than the limit allows.
func TestRaceOverRateLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]Outcome{20: NotRun, 100: Passed} {
		o := serveTiny(t, nil)
		o.RateLimit = ratelimit.Rate{Requests: limit, Per: time.Second}
		if r := runOne(t, o, racing("", 32, good(), fern())); r.Outcome != want {
			t.Errorf("%d/s: %s %q, want %s", limit, r.Outcome, r.Reason, want)
		}
	}
}

// TestRetryAfter checks that error 429 must have Retry-After, in seconds.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Fri, 31 Dec 1999 23:59:59 GMT"
	for text, want := range map[string]bool{"1": true, "3600": true, "": false, "0": false, "-1": false, "1.5": false, date: false} {
		if _, valid := (received{header: http.Header{"Retry-After": {text}}}).retryAfter(); valid != want {
			t.Errorf("%q is valid: %t", text, valid)
		}
	}
}
