package requests_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/requests"
	"plantstore/middleware"
	"plantstore/models"
)

// A site is a Recorder with a handler that reads bodies and has an outcome.
type site struct {
	*requests.Recorder

	handler http.Handler
}

func newSite(outcome middleware.Outcome) *site {
	s := &site{Recorder: requests.NewRecorder()}
	s.handler = s.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		readAll(r)
		s.Observe(r.Context(), &outcome)
	}), "/docs")
	return s
}

// readAll reads the body of a request in small parts.
func readAll(r *http.Request) {
	for part := make([]byte, 512); ; {
		if _, err := r.Body.Read(part); err != nil {
			return
		}
	}
}

// send sends a POST, which the change makes another request.
func (s *site) send(body io.Reader, change ...func(*http.Request)) {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/plants", body)
	for _, c := range change {
		c(r)
	}
	s.handler.ServeHTTP(httptest.NewRecorder(), r)
}

// target changes the target of a request.
func target(target string) func(*http.Request) {
	return func(r *http.Request) { r.RequestURI = target }
}

// query returns the requests of a query.
func query(t *testing.T, r *requests.Recorder, method, query string) []requests.Request {
	t.Helper()
	all, failure := r.Query(httptest.NewRequestWithContext(t.Context(), method, "/requests?"+query, http.NoBody))
	if failure != nil {
		t.Fatalf("%s %s: %v", method, query, failure)
	}
	return all
}

func numbers(all []requests.Request) string {
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprint(all[0].Number, "-", all[len(all)-1].Number, " of ", len(all))
}

// TestLast200 checks that the last 200 requests are kept, and that a query waits for the next one.
func TestLast200(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(middleware.Outcome{})
		got := make(chan string)
		await := func(text string) { got <- numbers(query(t, s.Recorder, http.MethodGet, text)) }
		go await("wait=1m")
		synctest.Wait()
		s.send(http.NoBody)
		if first := <-got; first != "1-1 of 1" {
			t.Errorf("the first are %s", first)
		}
		for range 300 {
			s.send(http.NoBody)
		}
		for text, want := range map[string]string{
			"": "102-301 of 200", "after=50": "102-301 of 200", "after=-9223372036854775808": "102-301 of 200", "after=200&wait=1s": "201-301 of 101",
			"after=301&wait=1m": "", "after=999&wait=1m": "", "after=9223372036854775807": "",
		} {
			if all := numbers(query(t, s.Recorder, http.MethodGet, text)); all != want {
				t.Errorf("%s: %s, want %s", text, all, want)
			}
		}
		started := time.Now()
		removed, left := query(t, s.Recorder, http.MethodDelete, "wait=1m"), query(t, s.Recorder, http.MethodGet, "")
		if len(removed)+len(left) > 0 || time.Since(started) > 0 {
			t.Errorf("DELETE returns %d requests after %v, and leaves %d", len(removed), time.Since(started), len(left))
		}
		go await("after=301&wait=1m")
		synctest.Wait()
		s.Observe(t.Context(), middleware.NewRefusal(models.NewError(400, "no"), "", ""))
		if next := <-got; next != "302-302 of 1" {
			t.Errorf("after the removal: %s", next)
		}
		go await("after=302&wait=1m")
		synctest.Wait()
		for range 3 {
			s.send(http.NoBody)
			time.Sleep(10 * time.Millisecond) // of the bubble
		}
		if next := <-got; next != "303-305 of 3" {
			t.Errorf("a follower of many gets %s", next)
		}
		ctx, leave := context.WithCancel(t.Context())
		started = time.Now()
		go func() {
			_, _ = s.Query(httptest.NewRequestWithContext(ctx, http.MethodGet, "/requests?after=305&wait=1m", http.NoBody))
			got <- ""
		}()
		synctest.Wait()
		leave()
		if <-got; time.Since(started) > 0 {
			t.Errorf("a query ends %v after its reader has left", time.Since(started))
		}
	})
}

// TestPageIsNotKept checks that requests for the docs page and its files are not kept, unlike one for a path
// that only begins with the same letters.
func TestPageIsNotKept(t *testing.T) {
	t.Parallel()
	s := newSite(middleware.Outcome{Request: new(http.Request)})
	for _, path := range []string{"/docs", "/docs/script.js", "/docs2"} {
		s.send(http.NoBody, func(r *http.Request) { r.URL.Path, r.RequestURI = path, path })
	}
	if all := query(t, s.Recorder, http.MethodGet, ""); len(all) != 1 || all[0].Target != "/docs2" {
		t.Errorf("kept %+v, want only /docs2", all)
	}
}

// TestRefusedQuery checks the Errors of queries, and that of a server that keeps no requests.
func TestRefusedQuery(t *testing.T) {
	t.Parallel()
	var none *requests.Recorder
	for text, want := range map[string]struct {
		of   *requests.Recorder
		code models.Code
	}{
		"":          {none, models.CodeForbidden},
		"after=x":   {requests.NewRecorder(), models.CodeBadRequest},
		"after=1e3": {requests.NewRecorder(), models.CodeBadRequest},
		"wait=10":   {requests.NewRecorder(), models.CodeBadRequest},
		"wait=61s":  {requests.NewRecorder(), models.CodeBadRequest},
		"afer=1":    {requests.NewRecorder(), models.CodeBadRequest},
		"after=%":   {requests.NewRecorder(), models.CodeBadRequest},
	} {
		body := strings.NewReader("--x--")
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/requests?"+text, body)
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		_, failure := want.of.Query(r)
		if failure == nil || failure.Code != want.code || body.Len() < 5 {
			t.Errorf("%q: %v, and %d bytes of the body were not read", text, failure, body.Len())
		}
	}
}

// TestRequest checks what is kept of a request.
func TestRequest(t *testing.T) {
	t.Parallel()
	s := newSite(middleware.Outcome{
		Method: "POST", Path: "/plants", Status: 400, Error: models.NewError(409, "id: 1 is taken"),
		Plant: true, PlantID: 9007199254740993, Subject: "me", RequestID: "r1",
	})
	s.send(strings.NewReader(`{"id": 1.0}`), func(r *http.Request) {
		r.Header = http.Header{"X-Two": {"1", "2"}, "Authorization": {"bearer a b", "opaque", "opaque x"}, "Api-Key": {"opaque"}}
		r.TransferEncoding = []string{"chunked"}
	})
	got := query(t, s.Recorder, http.MethodGet, "")
	got[0].DurationMS, got[0].Remote = 0, ""
	want := requests.Request{
		Number: 1, Time: got[0].Time, Method: "POST", Target: "/plants", Version: "HTTP/1.1",
		Header: []requests.Field{
			{Name: "Api-Key", Value: "REDACTED"},
			{Name: "Authorization", Value: "Bearer (valid, subject me)"},
			{Name: "Authorization", Value: "(valid, subject me)"},
			{Name: "Authorization", Value: "(valid, subject me)"},
			{Name: "Host", Value: "example.com"},
			{Name: "Transfer-Encoding", Value: "chunked"},
			{Name: "X-Two", Value: "1"},
			{Name: "X-Two", Value: "2"},
		},
		Body: `{"id": 1.0}`, BodyBytes: 11, RequestID: "r1", Subject: "me", Status: 400, Error: 409, Message: "id: 1 is taken", PlantID: "9007199254740993",
	}
	if diff := cmp.Diff([]requests.Request{want}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCredentials checks the outcome that is shown of a credential: only a subject shows that it is valid.
func TestCredentials(t *testing.T) {
	t.Parallel()
	for want, outcome := range map[string]middleware.Outcome{
		"Bearer (valid, subject me)":       {Subject: "me", Error: models.NewError(503, "full")},
		"Bearer (refused: it has expired)": {Error: models.NewError(401, "it has expired")},
		"Bearer (refused: not you)":        {Subject: "me", Error: models.NewError(403, "not you")},
		"Bearer (not checked)":             {Error: models.NewError(503, "the server has no keys of its issuer yet")},
	} {
		s := newSite(outcome)
		s.send(http.NoBody, func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") })
		if got := query(t, s.Recorder, http.MethodGet, "")[0].Header[0].Value; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestLines checks that a body is indented, unless it would take much memory, and its numbers stay as
// they were sent, and that the properties of violations are marked.
func TestLines(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 4<<10) + strings.Repeat("]", 4<<10)
	for _, test := range []struct{ body, message, want string }{
		{"", "", ""},
		{`{"id":`, "the body is not JSON", "\n  {\"id\":\n"},
		{"not\njson", "", "\n  not\n  json\n"},
		{`{"id":"x"}`, "id: must be an integer", "\n  {\n>   \"id\": \"x\"\n  }\n"},
		{deep, "", "\n  " + deep + "\n"},
		{
			`{"id":9007199254740993e0,"tag":{"id":[1]},"id":"x","d":0,"name":"id: "}`, "id: must be an integer; tag: must be a string",
			"\n  {\n>   \"id\": 9007199254740993e0,\n>   \"tag\": {\n>     \"id\": [\n>       1\n>     ]\n>   },\n>   \"id\": \"x\",\n    \"d\": 0,\n    \"name\": \"id: \"\n  }\n",
		},
	} {
		r := requests.Request{
			Method: "POST", Target: "/plants", Version: "HTTP/1.1", Header: []requests.Field{{Name: "host", Value: "x"}},
			Body: test.body, Message: test.message,
		}
		r.SetLines()
		want := "  POST /plants HTTP/1.1\n  host: x\n" + test.want
		if diff := cmp.Diff(want, strings.Join(r.Lines, "\n")+"\n"); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.body, diff)
		}
	}
}

// TestNotes checks what is noted about requests that are not refused for it, and that these lines are
// marked.
func TestNotes(t *testing.T) {
	t.Parallel()
	const rounded = "the id is beyond 2^53: JavaScript rounds it"
	created := func(id int64) middleware.Outcome { return middleware.Outcome{Plant: true, PlantID: id} }
	preferring := func(prefer string) middleware.Outcome { return middleware.Outcome{Plant: true, Prefer: prefer} }
	const applied, malformed = "on demand (Prefer)", "Prefer is ignored: it must be like code=503 or delay=2s, at most 10s"
	demanded := func(code models.Code) middleware.Outcome {
		return middleware.Outcome{Name: middleware.Fault, Error: models.NewError(code, "x")}
	}
	refused := middleware.Outcome{Error: models.NewError(422, "name: is required")}
	for _, test := range []struct {
		body    string
		outcome middleware.Outcome
		notes   []string
		marked  int
	}{
		{`{"id":1,"name":"x","tag":"y"}`, created(1), nil, 0},
		{`{"id":1,"name":"x","tga":{"tga":1},"height":2}`, created(1), []string{`unknown property "tga" is ignored (tag?)`, `unknown property "height" is ignored`}, 4},
		{`{"id":1,"NAME":"x"}`, refused, []string{`unknown property "NAME" is ignored (name?)`}, 1},
		{`{"a1":1,"a2":2,"a3":3,"a4":4,"a5":5,"a6":6}`, refused, []string{
			`unknown property "a1" is ignored`, `unknown property "a2" is ignored`, `unknown property "a3" is ignored`, `unknown property "a4" is ignored`, `unknown property "a5" is ignored`,
		}, 5},
		{`["id",`, refused, nil, 0},
		{`{"id":1,"name":"x","a1":1,"na`, refused, []string{`unknown property "a1" is ignored`}, 0},
		{`{"id":1,"name":"x","\ud800":1}`, refused, nil, 1},
		{"{\"id\":1,\"a\xff\":1}", refused, nil, 0},
		{`{"id":1,"a1":1,}`, middleware.Outcome{Error: models.NewError(400, "the body is not JSON")}, nil, 0},
		{`{"id":9007199254740992}`, created(1 << 53), []string{rounded}, 1},
		{`{"id":-1234567890123456800}`, created(-1234567890123456800), []string{rounded}, 1},
		{`{"id":9007199254740993}`, created(1<<53 + 1), nil, 0},
		{`{"id":9007199254740991}`, created(1<<53 - 1), nil, 0},
		{`{"id":1}`, preferring("code=503"), []string{"Prefer is ignored: faults are off"}, 0},
		{`{"id":1}`, preferring("code=999"), []string{malformed}, 0},
		{`{"id":1}`, preferring("wait=10, Delay=11s"), []string{malformed}, 0},
		{`{"id":1}`, preferring("wait=10"), nil, 0},
		{`{"id":1}`, preferring("encode=1, my-code=2"), nil, 0},
		{`{"id":1,"NAME":"x"}`, demanded(503), []string{applied, `unknown property "NAME" is ignored (name?)`}, 1},
		{`{"id":1}`, demanded(400), []string{applied}, 0},
		{`{"id":1}`, middleware.Outcome{Plant: true, PlantID: 1, Delayed: time.Second}, []string{applied}, 0},
	} {
		s := newSite(test.outcome)
		s.send(strings.NewReader(test.body))
		got := query(t, s.Recorder, http.MethodGet, "")[0]
		if diff := cmp.Diff(test.notes, got.Notes); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.body, diff)
		}
		got.SetLines()
		if n := strings.Count(strings.Join(got.Lines, "\n"), "\n> "); n != test.marked {
			t.Errorf("%s: %d lines are marked, want %d: %q", test.body, n, test.marked, got.Lines)
		}
	}
	s := newSite(created(1))
	s.send(strings.NewReader(`{"x":1}`), target("/nowhere"), func(r *http.Request) { r.URL.Path = "/nowhere" })
	if notes := query(t, s.Recorder, http.MethodGet, "")[0].Notes; notes != nil {
		t.Errorf("notes of another request: %q", notes)
	}
}

// TestTokens checks that nothing that is shown has a token, however it is written.
func TestTokens(t *testing.T) {
	t.Parallel()
	const head, payload, signature = "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiJ4In0", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	const token = head + "." + payload + "." + signature
	dots := func(dot string) string { return strings.ReplaceAll(token, ".", dot) }
	long := strings.Repeat("x", 8<<10-len(token)) // so that the end of the token is not kept
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, test := range map[string]struct {
		change func(*http.Request)
		body   string
	}{
		"Authorization":    {header("Authorization", "Bearer "+token), ""},
		"without a scheme": {header("Authorization", token), ""},
		"two":              {header("Authorization", token+" x"), ""},
		"Cookie":           {header("Cookie", "t="+dots("|")), ""},
		"field":            {header("X", "a "+token+" b"), ""},
		"method":           {func(r *http.Request) { r.Method = token }, ""},
		"path":             {target("/" + dots("%2E")), ""},
		"query":            {target("/?t=" + dots("%2e")), ""},
		"body":             {target("/"), `{"t":"` + dots(`\u002e`) + `"}`},
		"cut off":          {target("/"), long + " " + token + " more"},
		"cut header":       {header("X", strings.Repeat("x", 13<<10-len(token)-30)+" "+token), ""},
		"long body":        {target("/"), token + " " + strings.Repeat("x", 1<<20)},
	} {
		s := newSite(middleware.Outcome{Error: models.NewError(401, "with "+token), Subject: token})
		s.send(strings.NewReader(test.body), test.change)
		text := fmt.Sprintf("%+v", query(t, s.Recorder, http.MethodGet, ""))
		if strings.Contains(text, payload) || strings.Contains(text, signature[:10]) || !strings.Contains(text, models.Redacted) {
			t.Errorf("%s: %.2000s", name, text)
		}
	}
}

// TestMemory checks that the largest requests, and as many in progress, stay within 200 times 24 KiB,
// and that nothing is lost afterwards.
func TestMemory(t *testing.T) { //nolint:paralleltest // it measures the heap
	const most = 200 * 24 << 10
	s, long, content := newSite(middleware.Outcome{}), target(strings.Repeat("/", 32<<10)), bytes.Repeat([]byte("/"), 64<<10)
	before := heap()
	for range 500 {
		s.send(bytes.NewReader(content), long)
	}
	used := heap() - before
	if last := numbers(query(t, s.Recorder, http.MethodGet, "after=499")); used > most || last != "500-500 of 1" {
		t.Errorf("200 until %s take %d bytes", last, used)
	}
	inProgress := func(h http.Handler) int64 {
		var arrived, ended sync.WaitGroup
		release := make(chan struct{})
		for range 500 {
			arrived.Add(1)
			r := &http.Request{URL: new(url.URL), Body: io.NopCloser(io.MultiReader(bytes.NewReader(content[:20<<10]), readerFunc(func([]byte) (int, error) {
				arrived.Done()
				<-release
				return 0, io.EOF
			})))}
			long(r)
			ended.Go(func() { h.ServeHTTP(nil, r) })
		}
		arrived.Wait()
		defer ended.Wait()
		defer close(release)
		return heap()
	}
	before = inProgress(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { readAll(r) }))
	if used = inProgress(s.handler) - before; used > most {
		t.Errorf("500 requests in progress take %d bytes", used)
	}
	for range 200 {
		s.send(http.NoBody)
	}
	if all := query(t, s.Recorder, http.MethodGet, ""); len(all) != 200 {
		t.Errorf("%d are kept, want 200", len(all))
	}
}

// heap returns the bytes of the heap that are in use.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
