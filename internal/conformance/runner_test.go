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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// A reply is a response of a server under test, before it is sent.
type reply struct {
	status    int
	header    map[string]string
	body, end string
}

const goodToken = "the-good-token"

// tiny is a minimal plant store. fault changes its replies before they are sent.
type tiny struct {
	fault func(*http.Request, *reply)

	mu     sync.Mutex
	plants map[int64]string
	seen   atomic.Int64
}

func (s *tiny) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := s.response(r)
	a.end = "\n"
	n := s.seen.Add(1)
	a.header["Content-Type"] = "application/json"
	a.header["X-Content-Type-Options"] = "nosniff"
	a.header["X-Request-Id"] = "request-" + time.Now().Format("150405.000000000") + "-" + string(rune('a'+n%26))
	if s.fault != nil {
		s.fault(r, a)
	}
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body+a.end)
}

func (s *tiny) response(r *http.Request) *reply {
	refuse := func(body string) *reply { return &reply{status: 400, header: map[string]string{}, body: body} }
	if r.Header.Get("Authorization") != "Bearer "+goodToken {
		a := refuse(`{"error":401,"message":"send a token"}`)
		a.header["WWW-Authenticate"] = "Bearer"
		return a
	}
	var p struct {
		ID   *int64  `json:"id"`
		Name *string `json:"name"`
	}
	if err := json.UnmarshalRead(r.Body, &p); err != nil {
		return refuse(`{"error":400,"message":"malformed JSON"}`)
	}
	if p.ID == nil || p.Name == nil {
		return refuse(`{"error":422,"message":"id: is required; name: is required"}`)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch stored, taken := s.plants[*p.ID]; {
	case !taken:
		s.plants[*p.ID] = *p.Name
		return &reply{status: 200, header: map[string]string{}, body: `{"name":` + quote(*p.Name) + `}`}
	case stored == *p.Name:
		return refuse(`{"error":409,"message":"the id is taken by an identical plant"}`)
	}
	return refuse(`{"error":409,"message":"the id is taken by a different plant"}`)
}

// serveTiny starts a server with a fault, if any.
func serveTiny(t *testing.T, fault func(*http.Request, *reply)) Options {
	t.Helper()
	s := httptest.NewServer(&tiny{fault: fault, plants: map[int64]string{}})
	t.Cleanup(s.Close)
	return Options{URL: s.URL, Token: goodToken, Timeout: 20 * time.Second}
}

// runOne runs one case and returns its result.
func runOne(t *testing.T, o Options, c Case) Result {
	t.Helper()
	report, err := run(t.Context(), o, []Case{c})
	if err != nil {
		t.Fatal(err)
	}
	return report.Results[0]
}

func TestRunConformingServer(t *testing.T) {
	t.Parallel()
	o := serveTiny(t, nil)
	for _, c := range []Case{
		one("C1.2", "create", good(), fern()).kept(),
		one("C1.2", "create and close", good().with("Connection: close"), fern()).closed(),
		one("C1.3", "in pieces", good(), fern()).pieces(3),
		one("C1.3", "half-closed", good(), fern()).cut(0, ThenHalfClose),
		one("C1.3", "chunked", good().chunked(4), fern()),
		one("C1.5", "naming", post(`{}`), invalid("id", "name")),
		one("C2.8", "no credential", good().without("Authorization"), noCredential()),
		one("C5.27", "identical, then different", good(), fern()).then(good(), fails(409).labelled("identical")).
			then(post(`{"id":{{id}},"name":"moss"}`), fails(409).labelled("different")).then(good(), fails(409).labelled("identical")),
		one("C5.27", "pipelined", good(), fern()).again(good(), fails(409)).pipelined(),
		one("C5.27", "on one connection", good(), fern()).again(good(), fails(409)),
		racing("some", 8, good(), fern()),
		one("C2.16", "dropped", good(), Response{}).cut(5, ThenDrop).then(good(), fern()),
		one("C2.13", "a well-known id", post(`{"id":7,"name":"edge"}`), plant("edge").mayBeTaken()),
		one("C2.13", "a well-known id, taken by now", post(`{"id":7,"name":"edge"}`), plant("edge").mayBeTaken()),
	} {
		if r := runOne(t, o, c); r.Outcome != Passed {
			t.Errorf("%s: %s %s, want passed", c.Name, r.Outcome, r.Reason)
		}
	}
}

// A faulty server, a case for which it deviates, and part of the reported reason.
type faulty struct {
	fault func(*http.Request, *reply)
	c     Case
	want  string
}

func faultyServers() map[string]faulty {
	create, refused := one("C1.2", "create", good(), fern()), one("C1.5", "refused", post(`{}`), invalid("id", "name"))
	twice := create.then(good(), fails(409).labelled("identical")).then(post(`{"id":{{id}},"name":"moss"}`), fails(409).labelled("different"))
	set := func(name, value string) func(*http.Request, *reply) {
		return func(_ *http.Request, a *reply) { a.header[name] = value }
	}
	drop := func(name string) func(*http.Request, *reply) {
		return func(_ *http.Request, a *reply) { delete(a.header, name) }
	}
	edit := func(old, with string) func(*http.Request, *reply) {
		return func(_ *http.Request, a *reply) { a.body = strings.Replace(a.body, old, with, 1) }
	}
	another := func(code int, message string) func(*http.Request, *reply) {
		return func(_ *http.Request, a *reply) {
			a.status, a.body = 400, fmt.Sprintf(`{"error":%d,"message":%q}`, code, message)
		}
	}
	accept := func(_ *http.Request, a *reply) { a.status, a.body = 200, `{"name":"fern"}` }
	return map[string]faulty{
		"status 201":             {func(_ *http.Request, a *reply) { a.status = 201 }, create, "a Plant has status 200"},
		"status 422":             {func(_ *http.Request, a *reply) { a.status = 422 }, refused, "an Error has status 400"},
		"no newline":             {func(_ *http.Request, a *reply) { a.end = "" }, create, "a newline ends a Plant"},
		"no Allow":               {another(405, "send POST"), one("C1.6", "", good(), fails(405)), "Allow is there with error 405"},
		"no Retry-After":         {another(429, "wait"), one("C1.6", "", good(), fails(429)), "Retry-After is there with error 429"},
		"no content type":        {set("Content-Type", "text/plain"), create, "Content-Type"},
		"content type with set":  {set("Content-Type", "application/json; charset=utf-8"), create, "Content-Type"},
		"no request id":          {drop("X-Request-Id"), create, "X-Request-Id is there once"},
		"one request id":         {set("X-Request-Id", "same"), twice, "no two responses have the same X-Request-Id"},
		"sniffing":               {drop("X-Content-Type-Options"), create, "X-Content-Type-Options is nosniff"},
		"names the software":     {set("Server", "tiny/1"), create, "neither Server nor X-Powered-By"},
		"Allow out of place":     {set("Allow", "POST"), refused, "Allow is there with error 405"},
		"challenge out of place": {set("WWW-Authenticate", "Bearer"), refused, "WWW-Authenticate: Bearer is there"},
		"no challenge": {
			drop("WWW-Authenticate"), one("C1.6", "", good().without("Authorization"), fails(401)), "WWW-Authenticate: Bearer is there",
		},
		"challenge with error": {
			set("WWW-Authenticate", `Bearer error="invalid_token"`), one("C1.6", "", good().without("Authorization"), noCredential()), "WWW-Authenticate has an error attribute if",
		},
		"challenge without error":       {nil, one("C1.6", "", good().replace("Authorization: Bearer bad"), badToken()), "WWW-Authenticate has an error attribute if"},
		"id echoed":                     {edit(`{"name"`, `{"id":1,"name"`), create, "a Plant has no field but name"},
		"tag invented":                  {edit(`}`, `,"tag":null}`), create, "a Plant has no field but name"},
		"another name":                  {edit("fern", "Fern"), create, "name is"},
		"a duplicate":                   {edit(`}`, `,"name":"fern"}`), create, "not a JSON object"},
		"no JSON":                       {edit(`}`, ``), create, "not a JSON object"},
		"two values":                    {edit(`}`, `}{}`), create, "not a JSON object"},
		"another error":                 {edit("422", "400"), refused, "error 400, want 422"},
		"error a string":                {edit("422", `"422"`), refused, "not an Error"},
		"error a fraction":              {edit("422", "422.5"), refused, "an Error has exactly"},
		"error beyond int32":            {edit("422", "4220000000"), one("", "", post(`{}`), fails(4220000000)), "an Error has exactly"},
		"a third field":                 {edit(`}`, `,"details":[]}`), refused, "an Error has exactly"},
		"an empty message":              {another(422, ""), one("", "", post(`{}`), fails(422)), "an Error has exactly"},
		"fields in capitals":            {edit(`"message"`, `"Message"`), one("", "", post(`{}`), fails(422)), "an Error has exactly"},
		"a field not named":             {edit("name: is required", "more"), refused, "does not name name"},
		"a field too many":              {edit("id:", "tag and id:"), refused, "names tag"},
		"inside knowledge":              {edit("id:", "models.NewPlant id:"), refused, "implementation details"},
		"a library's words":             {edit("id:", "json: cannot unmarshal; id:"), refused, "implementation details"},
		"a credential":                  {edit("id:", "for "+goodToken+": id:"), refused, "no message contains the token"},
		"refused, but it was good":      {another(503, "no"), create, "error 503, want 200"},
		"accepted, but it was bad":      {accept, refused, "200, want error 422"},
		"identical and different alike": {edit("a different", "an identical"), twice, "for both"},
		"two winners":                   {accept, racing("", 4, good(), fern()), "4 of 4 racing creates got 200"},
		"no winner":                     {another(409, "no"), racing("", 4, good(), fern()), "0 of 4 racing creates got 200"},
		"closes":                        {set("Connection", "close"), create.kept(), "not kept"},
		"keeps":                         {nil, create.last(func(t *Exchange) { t.After = AfterClosed }), "still open"},
		"panics":                        {func(*http.Request, *reply) { panic(http.ErrAbortHandler) }, create, "closed without a response"},
		"invites a body it will refuse": {nil, one("", "", good().with("Expect: 100-continue"), fern().uninvited()), "100 Continue came"},
		"a header that is not there":    {nil, one("", "", good(), fern().header("Location", "/x")), "Location is"},
		"a piece that is not there":     {nil, one("", "", good(), fern().raw("moss")), "lacks"},
		"cut short, and stored":         {nil, create.then(good(), fern()), "error 409, want 200"},
	}
}

func TestRunFindsDeviations(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	found := map[string]bool{}
	for name, test := range faultyServers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := serveTiny(t, test.fault)
			if name == "keeps" {
				o.Timeout = 5 * time.Second // a busy machine needs time to connect
			}
			r, err := newRunner(o)
			if err != nil {
				t.Fatal(err)
			}
			failed := slices.DeleteFunc(r.runAll(t.Context(), append(everyCases(), test.c)), func(r Result) bool { return r.Outcome != Failed })
			if len(failed) != 1 || !strings.Contains(failed[0].Name+failed[0].Reason, test.want) {
				t.Fatalf("%+v, want one failure with %q", failed, test.want)
			}
			got := failed[0]
			if len(got.Sent) == 0 || len(got.Wanted) == 0 || strings.Contains(fmt.Sprintf("%+v", got), goodToken) {
				t.Errorf("the result does not show the request, without credentials, and the expectation: %+v", got)
			}
			mu.Lock()
			defer mu.Unlock()
			found[got.Name] = true
		})
	}
	t.Cleanup(func() {
		for _, c := range everyCases() {
			if !found[c.Name] {
				t.Errorf("%s %s: no faulty server fails it", c.Rule, c.Name)
			}
		}
	})
}

// TestWait checks that a run waits for a server that closes connections, or responds with the error of a
// proxy or its own error 503, as long as it is starting.
func TestWait(t *testing.T) {
	t.Parallel()
	var probes atomic.Int64
	o := serveTiny(t, func(_ *http.Request, a *reply) {
		switch probes.Add(1) {
		case 1, 2:
			panic(http.ErrAbortHandler)
		case 3:
			a.status, a.body = http.StatusBadGateway, "<h1>Bad Gateway</h1>"
		case 4:
			a.status, a.body = http.StatusBadRequest, `{"error":503,"message":"starting"}`
		}
	})
	create := []Case{one("C1.2", "create", good(), fern())}
	if _, err := run(t.Context(), o, create); err == nil || !strings.Contains(err.Error(), "does not respond") {
		t.Errorf("without waiting: %v", err)
	}
	o.Wait = patient
	report, err := run(t.Context(), o, create)
	if err != nil || report.Deviations() > 0 || probes.Load() != 6 {
		t.Errorf("%v, %+v after %d requests", err, report, probes.Load())
	}
}

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
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"plain to TLS":   {func(o *Options) { o.URL = "http://" + secure.Listener.Addr().String() }, "uses TLS"},
		"no URL":         {func(o *Options) { o.URL = "" }, "--url"},
		"another scheme": {func(o *Options) { o.URL = "ftp://host" }, "want http://host"},
		"no scheme":      {func(o *Options) { o.URL = "localhost:8080" }, "want http://host"},
		"no token":       {func(o *Options) { o.Token = "" }, "token"},
		"negative limit": {func(o *Options) { o.MaxBodyBytes = -1 }, "negative"},
		"negative wait":  {func(o *Options) { o.Wait = -1 }, "negative"},
		"no server":      {func(o *Options) { o.URL = closed.URL }, "does not respond"},
		"no such path":   {func(o *Options) { o.URL = another.URL }, "has no POST /plants"},
		"no origin":      {func(o *Options) { o.Origin = "foo" }, `origin "foo": want`},
		"no such rule":   {func(o *Options) { o.Rule = "C9" }, `rule "C9": want a rule such as C2.12`},
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
	var once sync.Once
	var s *httptest.Server
	store := &tiny{plants: map[int64]string{}}
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		store.ServeHTTP(w, r)
		once.Do(func() { _ = s.Listener.Close() })
	}))
	t.Cleanup(s.Close)
	report, err := run(t.Context(), Options{URL: s.URL, Token: goodToken}, Cases())
	if want := s.URL + " has not responded in 10 cases in a row: the run has ended"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if n := report.tally(""); n[Passed] > 0 || n[Failed] == 0 || n[Failed] > 100 {
		t.Errorf("%v, want none passed, and the others not run", n)
	}
}

// TestRunServerHangs checks that a server that accepts connections and never responds ends a run, and
// that one response in between begins another row.
func TestRunServerHangs(t *testing.T) {
	t.Parallel()
	listener := httptest.NewUnstartedServer(nil).Listener
	t.Cleanup(func() { _ = listener.Close() })
	r, err := newRunner(Options{URL: "http://" + listener.Addr().String(), Token: goodToken, Timeout: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
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
}

// TestRule checks that only the cases of a rule are run.
func TestRule(t *testing.T) {
	t.Parallel()
	o := serveTiny(t, nil)
	o.Rule = "C2.12"
	report, err := Run(t.Context(), o)
	if n := report.tally(""); err != nil || len(report.Results) == 0 || n[NotRun] > 0 || len(report.tally(o.Rule)) != len(n) {
		t.Errorf("%v, %v", err, n)
	}
	for _, result := range report.Results {
		if result.Rule != o.Rule {
			t.Fatalf("a case of %s is run", result.Rule)
		}
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
	r, err := newRunner(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Cases() {
		shown := strings.Join(append(c.sent(r.values.shown()), c.wanted(r.values.shown())...), "\n")
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
