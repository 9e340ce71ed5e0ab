package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/middleware"
	"plantstore/models"
)

// serve runs the handlers on a request, as the router would.
func serve(t *testing.T, r *http.Request, handlers ...gin.HandlerFunc) *httptest.ResponseRecorder {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Any("/plants", handlers...)
	recorder := httptest.NewRecorder()
	router.ServeHTTP(recorder, r)
	return recorder
}

func post(t *testing.T, header http.Header, body io.Reader) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/plants", body)
	r.Header = header
	return r
}

// pass is a handler that shows that it was reached.
func pass(c *gin.Context) { middleware.OK(c, models.Plant{Name: "reached"}) }

func fail(err error) gin.HandlerFunc { return func(c *gin.Context) { middleware.Fail(c, err) } }

func reached(w *httptest.ResponseRecorder) bool {
	return w.Code == http.StatusOK && w.Body.String() == `{"name":"reached"}`+"\n"
}

// aToken is one that a client may send anywhere.
const aToken = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"

// TestRetryAfter checks that only the response to a temporary failure says when to try again (C1.6).
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	want := map[models.Code]string{models.CodeUnavailable: "1", models.CodeInsufficientSpace: "1"}
	for _, row := range models.Codes() {
		w := serve(t, post(t, nil, http.NoBody), fail(models.NewError(row.Code, "it failed")))
		if got := w.Header().Get("Retry-After"); got != want[row.Code] {
			t.Errorf("error %d: Retry-After %q, want %q", row.Code, got, want[row.Code])
		}
	}
}

// TestBearer checks the challenges and messages for credentials. The rules C4.20 and C4.21 of
// internal/conformance have more of them.
func TestBearer(t *testing.T) {
	t.Parallel()
	const (
		none       = `Bearer realm="plants"`
		invalid    = none + `, error="invalid_token"`
		several    = none + `, error="invalid_request"`
		noScope    = none + `, error="insufficient_scope"`
		writeSpace = `; write Bearer and a space before the token`
	)
	tests := map[string]struct {
		authorization []string
		challenge     string // empty: no challenge; without a message the handler is reached
		message       string // part of it
	}{
		"good":             {[]string{"bEARER   good"}, "", ``},
		"missing":          {nil, none, `Bearer <ACCESS_TOKEN>`},
		"empty":            {[]string{""}, none, `; it is empty, and plantstore token prints one`},
		"other scheme":     {[]string{"Basic good"}, none, `; its scheme is Basic, not Bearer`},
		"no scheme":        {[]string{"good"}, none, writeSpace},
		"colon":            {[]string{"bearer: good"}, none, `; write it without a colon after Bearer`},
		"unknown scheme":   {[]string{"secret x"}, none, writeSpace},
		"no scheme, space": {[]string{"goodgoodgoodgoodgood good"}, none, writeSpace},
		"only a token":     {[]string{aToken}, none, writeSpace},
		"two tokens":       {[]string{aToken + " x"}, none, writeSpace},
		"equals sign":      {[]string{"Bearer=" + aToken}, none, writeSpace},
		"glued":            {[]string{"Bearer" + aToken}, none, writeSpace},
		"scheme Token":     {[]string{"Token:" + aToken}, none, writeSpace},
		"no token":         {[]string{"Bearer"}, invalid, `not valid`},
		"bad":              {[]string{"Bearer good good"}, invalid, `not valid`},
		"two lines":        {[]string{"Bearer good", "Bearer good"}, several, `not several`},
		"not allowed here": {[]string{"Bearer limited"}, noScope, `the scope is missing`},
		"no keys yet":      {[]string{"Bearer early"}, "", `no keys yet`},
	}
	verify := func(_ context.Context, token string) (string, error) {
		switch token {
		case "good":
			return "somebody", nil
		case "limited":
			return "", models.NewError(models.CodeForbidden, "the scope is missing")
		case "early":
			return "", models.NewError(models.CodeUnavailable, "no keys yet")
		}
		return "", models.NewError(models.CodeUnauthorized, "the token is not valid")
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := post(t, http.Header{"Authorization": tt.authorization}, failingBody{errors.New("read")})
			missing := 0
			w := serve(t, r, middleware.Bearer(verify, func() { missing++ }), pass)
			if want := tt.challenge == none || tt.challenge == several; (missing == 1) != want {
				t.Errorf("counted as missing %d times, want it counted: %t", missing, want)
			}
			if got := w.Header().Get("WWW-Authenticate"); got != tt.challenge {
				t.Errorf("WWW-Authenticate %q, want %q", got, tt.challenge)
			}
			codes := map[string]models.Code{none: 401, invalid: 401, several: 401, noScope: 403, "": 503}
			if tt.message != "" {
				must.Refuse(t, w, codes[tt.challenge], tt.message)
			} else if !reached(w) {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
}

// TestJSONOnly checks media types, and the messages for them. Rule C2.9 of internal/conformance has
// more.
func TestJSONOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		contentType, coding []string
		want                string // part of the message; empty: accepted
	}{
		{[]string{"Application/JSON"}, []string{"", "Identity, identity"}, ""},
		{[]string{`application/json; ;; profile=x; charset="UTF-8" ;`}, nil, ""},
		{[]string{"application/json;;charset=utf-16"}, nil, `in UTF-8; it is "application/json;;charset=utf-16"`},
		{[]string{`application/json; charset=""`}, nil, `in UTF-8; it is "application/json; charset=\"\""`},
		{[]string{"application/json; charset"}, nil, `in UTF-8; it is`},
		{[]string{";;"}, nil, `in UTF-8; it is ";;"`},
		{[]string{"application/json", "application/json"}, nil, `in UTF-8; it is "application/json, application/json"`},
		{[]string{aToken}, nil, `it is "REDACTED"`},
		{nil, nil, "in UTF-8; there is none"},
		{[]string{"application/json"}, []string{"identity", "gzip"}, `Content-Encoding; it is "identity, gzip"`},
	} {
		header := http.Header{"Content-Type": tt.contentType, "Content-Encoding": tt.coding}
		w := serve(t, post(t, header, failingBody{errors.New("read")}), middleware.JSONOnly(), pass)
		if tt.want != "" {
			must.Refuse(t, w, models.CodeUnsupportedMedia, tt.want)
		} else if !reached(w) {
			t.Errorf("%v: got %d %s", header, w.Code, w.Body)
		}
		if accept := w.Header().Get("Accept-Encoding"); (accept == "identity") != strings.Contains(tt.want, "Content-Encoding") {
			t.Errorf("%v: Accept-Encoding %q", header, accept)
		}
	}
}

// TestRecovery checks that the panic of a handler is logged with its stack, and the client learns
// nothing of it.
func TestRecovery(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	w := serve(t, post(t, http.Header{}, nil), middleware.Outcomes(middleware.AccessLog(logger)), middleware.Recovery(),
		func(*gin.Context) { panic("a bug at /data/plants.db") })
	must.Refuse(t, w, models.CodeInternal, "the server failed")
	if strings.Contains(w.Body.String(), "bug") {
		t.Errorf("the client learns of %s", w.Body)
	}
	for _, want := range []string{"level=ERROR", "a bug at", "middleware_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, &log)
		}
	}
}

// TestRecoveryPassesOn checks that a panic closes the connection if the handler wants that, or the
// response has begun.
func TestRecoveryPassesOn(t *testing.T) {
	t.Parallel()
	for want, handler := range map[any]gin.HandlerFunc{
		http.ErrAbortHandler: func(*gin.Context) { panic(http.ErrAbortHandler) },
		"late":               func(c *gin.Context) { pass(c); panic("late") },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panicked with %v, want %v", got, want)
				}
			}()
			serve(t, post(t, http.Header{}, nil), middleware.Recovery(), handler)
		}()
	}
}

func TestMain(m *testing.M) { watchdog.Main(m) }

// waiting is a limiter that makes all clients wait that long, if it is positive.
type waiting time.Duration

func (w waiting) Take(context.Context, string) time.Duration { return time.Duration(w) }

func (waiting) Rate() string { return "100/s" }

// TestRateLimit checks that a refusal names the time to wait in whole seconds, rounded up.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		0: "", 1: "1", time.Second: "1", time.Second + 1: "2", time.Hour: "3600",
	} {
		w := serve(t, post(t, nil, http.NoBody), middleware.RateLimit(waiting(wait)), pass)
		if got := w.Header().Get("Retry-After"); got != want {
			t.Errorf("%v: Retry-After %q, want %q", wait, got, want)
		}
		if wait > 0 {
			must.Refuse(t, w, 429, "the rate limit of 100/s for the subject (sub) of this access token is exceeded; "+
				"send the request again in "+want+" s")
		} else if !reached(w) {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	}
}

// TestCORS checks the header fields of responses to pages. Rule C3.19 of internal/conformance has more
// origins.
func TestCORS(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.test", "http://b.test:8080"
	some := middleware.Origins{a, b}
	const usual = "Authorization, Content-Type, X-Request-Id, Prefer"
	varies := http.Header{"Vary": {"Origin"}}
	allows := func(origin string) http.Header { // the response that pages of that origin may read
		return http.Header{
			"Access-Control-Allow-Origin":   {origin},
			"Access-Control-Expose-Headers": {"X-Request-Id, WWW-Authenticate, Allow, Accept-Encoding, Retry-After, ETag, Preference-Applied"},
		}
	}
	with := func(header http.Header, name string, values ...string) http.Header {
		header[name] = values
		return header
	}
	from := func(origin string) http.Header { return http.Header{"Origin": {origin}} }
	preflight := func(method, headers string) http.Header {
		return http.Header{"Origin": {a}, "Access-Control-Request-Method": {method}, "Access-Control-Request-Headers": {headers}}
	}
	preflighted := func(method, headers string) http.Header {
		header := with(allows(a), "Vary", "Origin", "Access-Control-Request-Method, Access-Control-Request-Headers")
		header.Set("Access-Control-Allow-Methods", method)
		header.Set("Access-Control-Allow-Headers", headers)
		header.Set("Access-Control-Max-Age", "7200")
		return header
	}
	for name, tt := range map[string]struct {
		allowed middleware.Origins
		method  string
		sent    http.Header
		want    http.Header
	}{
		"off":                       {nil, "POST", from(a), http.Header{}},
		"all, without an origin":    {middleware.Origins{"*"}, "POST", http.Header{}, allows("*")},
		"an origin":                 {some, "POST", from(b), with(allows(b), "Vary", "Origin")},
		"without an origin":         {some, "POST", http.Header{}, varies},
		"another":                   {some, "POST", from("https://b.test:8080"), varies},
		"a star, literally":         {some, "POST", from("*"), varies},
		"preflight":                 {some, "OPTIONS", preflight("PUT", "x-trace,content-type"), preflighted("PUT", "x-trace,content-type")},
		"preflight without headers": {some, "OPTIONS", preflight("POST", ""), preflighted("POST", usual)},
		"POST like a preflight":     {some, "POST", preflight("POST", "x"), with(allows(a), "Vary", "Origin")},
		"OPTIONS without a method":  {some, "OPTIONS", from(a), with(allows(a), "Vary", "Origin")},
		"preflight of another":      {some, "OPTIONS", with(preflight("POST", ""), "Origin", "https://b.test"), varies},
		"preflight of two":          {some, "OPTIONS", with(preflight("POST", ""), "Origin", a, a), varies},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "/plants", http.NoBody)
		r.Header = tt.sent
		allow := func(c *gin.Context) { c.Header("Allow", "POST") } // as the router does for another method
		w := serve(t, r, allow, middleware.CORS(tt.allowed), pass)
		got, passes := w.Header().Clone(), tt.want["Access-Control-Max-Age"] == nil
		if reached(w) != passes || !passes && w.Code != http.StatusNoContent || (got["Allow"] != nil) != passes {
			t.Errorf("%s: got %d %v, want the handler reached: %t", name, w.Code, got, passes)
		}
		got.Del("Allow")
		got.Del("Content-Type")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: header (-want +got):\n%s", name, diff)
		}
	}
}
