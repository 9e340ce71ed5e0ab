package middleware_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

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

func reached(w *httptest.ResponseRecorder) bool {
	return w.Code == http.StatusOK && w.Body.String() == `{"name":"reached"}`+"\n"
}

// checkError checks that a response is an Error with a code and a message that contains text.
func checkError(t *testing.T, w *httptest.ResponseRecorder, code models.Code, text string) {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%q: %v", w.Body, err)
	}
	message, _ := got["message"].(string)
	if w.Code != http.StatusBadRequest || len(got) != 2 || got["error"] != float64(code) || !strings.Contains(message, text) {
		t.Errorf("got %d %s, want 400 with error %d and %q", w.Code, w.Body, code, text)
	}
	if body := w.Body.String(); !strings.HasSuffix(body, "}\n") {
		t.Errorf("got %q, want it to end with a newline", body)
	}
	if got := w.Header().Values("Content-Type"); len(got) != 1 || got[0] != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
}

func TestBearer(t *testing.T) {
	t.Parallel()
	const none = `Bearer realm="plants"`
	const invalid = none + `, error="invalid_token"`
	tests := map[string]struct {
		authorization []string
		code          models.Code // 0: the handler is reached
		challenge     string
		message       string // part of it
	}{
		"good":              {[]string{"Bearer good"}, 0, "", ``},
		"lower case":        {[]string{"bearer good"}, 0, "", ``},
		"upper case":        {[]string{"BEARER good"}, 0, "", ``},
		"more spaces":       {[]string{"Bearer   good"}, 0, "", ``},
		"missing":           {nil, 401, none, `Bearer <ACCESS_TOKEN>`},
		"empty":             {[]string{""}, 401, none, `; it is empty, and plantstore token prints one`},
		"other scheme":      {[]string{"Basic good"}, 401, none, `; its scheme is Basic, not Bearer`},
		"no scheme":         {[]string{"good"}, 401, none, `; write Bearer and a space before the token`},
		"longer scheme":     {[]string{"Bearers good"}, 401, none, `; its scheme is Bearers`},
		"colon":             {[]string{"bearer: good"}, 401, none, `; write it without a colon after Bearer`},
		"no scheme, space":  {[]string{"goodgoodgoodgoodgood good"}, 401, none, `; write Bearer and a space before the token`},
		"tab":               {[]string{"Bearer\tgood"}, 401, none, `; write Bearer and a space`},
		"no token":          {[]string{"Bearer"}, 401, invalid, ``},
		"only spaces":       {[]string{"Bearer  "}, 401, invalid, ``},
		"two tokens":        {[]string{"Bearer good good"}, 401, invalid, ``},
		"two schemes":       {[]string{"Bearer Bearer good"}, 401, invalid, ``},
		"bad":               {[]string{"Bearer bad"}, 401, invalid, ``},
		"two lines":         {[]string{"Bearer good", "Bearer good"}, 401, none + `, error="invalid_request"`, `not several`},
		"not allowed here":  {[]string{"Bearer limited"}, 403, none + `, error="insufficient_scope"`, ``},
		"list in one line":  {[]string{"Bearer good, Bearer good"}, 401, invalid, ``},
		"scheme in quotes":  {[]string{`"Bearer" good`}, 401, none, `; write Bearer and a space`},
		"parameter instead": {[]string{"Bearer token=good"}, 401, invalid, ``},
	}
	verify := func(token string) (string, error) {
		switch token {
		case "good":
			return "somebody", nil
		case "limited":
			return "", models.NewError(models.CodeForbidden, "the scope is missing")
		}
		return "", models.NewError(models.CodeUnauthorized, "the token is not valid")
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := post(t, http.Header{"Authorization": tt.authorization}, failingBody{errors.New("read")})
			missing := 0
			w := serve(t, r, middleware.Bearer(verify, func() { missing++ }), pass)
			if want := tt.code != 0 && tt.challenge != invalid && tt.code != 403; (missing == 1) != want {
				t.Errorf("counted as missing %d times, want it counted: %t", missing, want)
			}
			if got := w.Header().Get("WWW-Authenticate"); got != tt.challenge {
				t.Errorf("WWW-Authenticate %q, want %q", got, tt.challenge)
			}
			if tt.code != 0 {
				checkError(t, w, tt.code, tt.message)
			} else if !reached(w) {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
}

func TestBearerIgnoresQuery(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/plants?access_token=good", nil)
	w := serve(t, r, middleware.Bearer(func(string) (string, error) { return "", nil }, nil), pass)
	checkError(t, w, models.CodeUnauthorized, "Authorization: Bearer")
}

func TestJSONOnly(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		contentType, coding []string
		accepted            bool
	}{
		"plain":             {[]string{"application/json"}, nil, true},
		"any case":          {[]string{"Application/JSON"}, nil, true},
		"utf-8":             {[]string{"application/json; charset=utf-8"}, nil, true},
		"UTF-8 in quotes":   {[]string{`application/json;charset="UTF-8"`}, nil, true},
		"empty parameters":  {[]string{"application/json; ;; charset=utf-8 ;"}, nil, true},
		"empty, other set":  {[]string{"application/json;;charset=utf-16"}, nil, false},
		"nothing but empty": {[]string{";;"}, nil, false},
		"other parameter":   {[]string{"application/json; profile=x"}, nil, true},
		"missing":           {nil, nil, false},
		"empty":             {[]string{""}, nil, false},
		"repeated":          {[]string{"application/json", "application/json"}, nil, false},
		"list":              {[]string{"application/json, application/json"}, nil, false},
		"text":              {[]string{"text/json"}, nil, false},
		"problem":           {[]string{"application/problem+json"}, nil, false},
		"longer":            {[]string{"application/jsonl"}, nil, false},
		"form":              {[]string{"application/x-www-form-urlencoded"}, nil, false},
		"other charset":     {[]string{"application/json; charset=iso-8859-1"}, nil, false},
		"utf-16":            {[]string{"application/json; charset=utf-16"}, nil, false},
		"empty charset":     {[]string{`application/json; charset=""`}, nil, false},
		"two charsets":      {[]string{"application/json; charset=utf-8; charset=utf-16"}, nil, false},
		"broken parameter":  {[]string{"application/json; charset"}, nil, false},
		"any type":          {[]string{"*/*"}, nil, false},
		"identity":          {[]string{"application/json"}, []string{"Identity"}, true},
		"empty coding":      {[]string{"application/json"}, []string{""}, true},
		"identity twice":    {[]string{"application/json"}, []string{"identity, identity"}, true},
		"gzip":              {[]string{"application/json"}, []string{"gzip"}, false},
		"gzip behind":       {[]string{"application/json"}, []string{"identity,gzip"}, false},
		"gzip in next line": {[]string{"application/json"}, []string{"identity", "gzip"}, false},
		"unknown coding":    {[]string{"application/json"}, []string{"x"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{"Content-Type": tt.contentType, "Content-Encoding": tt.coding}
			w := serve(t, post(t, header, failingBody{errors.New("read")}), middleware.JSONOnly(), pass)
			if !tt.accepted {
				arrived := "in UTF-8; there is none"
				switch {
				case tt.coding != nil:
					arrived = "Content-Encoding; it is " + strconv.Quote(strings.Join(tt.coding, ", "))
				case tt.contentType != nil:
					arrived = "in UTF-8; it is " + strconv.Quote(strings.Join(tt.contentType, ", "))
				}
				checkError(t, w, models.CodeUnsupportedMedia, arrived)
			} else if !reached(w) {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
}

// TestRefusalHidesTokens checks that an Error names what has arrived without a token (C4.25).
func TestRefusalHidesTokens(t *testing.T) {
	t.Parallel()
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"
	verify := func(string) (string, error) {
		return "", models.NewError(models.CodeUnauthorized, "the token is not valid")
	}
	for _, value := range []string{token, token + " x", "Bearer=" + token, "Bearer" + token, "Token:" + token} {
		w := serve(t, post(t, http.Header{"Authorization": {value}}, nil), middleware.Bearer(verify, nil))
		checkError(t, w, models.CodeUnauthorized, "write Bearer and a space before the token")
		if strings.Contains(w.Body.String(), "eyJ") {
			t.Errorf("%s: %s", value, w.Body)
		}
	}
	w := serve(t, post(t, http.Header{"Content-Type": {token}}, nil), middleware.JSONOnly())
	checkError(t, w, models.CodeUnsupportedMedia, `it is "REDACTED"`)
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	for sent, kept := range map[string]bool{"mine": true, "not mine": false} {
		w := serve(t, post(t, http.Header{"X-Request-Id": {sent}}, nil), middleware.Headers(), pass)
		if got := w.Header().Values("X-Request-Id"); len(got) != 1 || got[0] == "" || (got[0] == sent) != kept {
			t.Errorf("X-Request-Id %q for %q", got, sent)
		}
	}
}

func TestNoSniff(t *testing.T) {
	t.Parallel()
	w := serve(t, post(t, http.Header{}, nil), middleware.Headers(), pass)
	if got := w.Header().Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("got %q", got)
	}
}

func TestFailHidesFaults(t *testing.T) {
	t.Parallel()
	w := serve(t, post(t, http.Header{}, nil), func(c *gin.Context) {
		middleware.Fail(c, errors.New("open /data/plants.db: permission denied"))
	})
	checkError(t, w, models.CodeInternal, "the server failed")
	if strings.Contains(w.Body.String(), "plants.db") {
		t.Errorf("the client learns of %s", w.Body)
	}
}

func TestFailAborts(t *testing.T) {
	t.Parallel()
	w := serve(t, post(t, http.Header{}, nil),
		func(c *gin.Context) { middleware.Fail(c, models.NewError(models.CodeNotFound, "<nothing> & here")) },
		pass)
	checkError(t, w, models.CodeNotFound, "<nothing> & here")
	if want := `{"error":404,"message":"<nothing> & here"}` + "\n"; w.Body.String() != want {
		t.Errorf("got %s, want %s", w.Body, want)
	}
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	w := serve(t, post(t, http.Header{}, nil), middleware.AccessLog(logger, nil), middleware.Recovery(),
		func(*gin.Context) { panic("a bug at /data/plants.db") })
	checkError(t, w, models.CodeInternal, "the server failed")
	if strings.Contains(w.Body.String(), "bug") {
		t.Errorf("the client learns of %s", w.Body)
	}
	for _, want := range []string{"level=ERROR", "a bug at", "middleware_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, &log)
		}
	}
}

func TestRecoveryPassesOn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		handler gin.HandlerFunc
		want    any
	}{
		"abort":         {func(*gin.Context) { panic(http.ErrAbortHandler) }, http.ErrAbortHandler},
		"after a write": {func(c *gin.Context) { pass(c); panic("late") }, "late"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := recover(); got != tt.want {
					t.Errorf("panicked with %v, want %v", got, tt.want)
				}
			}()
			serve(t, post(t, http.Header{}, nil), middleware.Recovery(), tt.handler)
		})
	}
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	fail := func(err error) gin.HandlerFunc {
		return func(c *gin.Context) { middleware.Fail(c, err) }
	}
	tests := map[string]struct {
		handler      gin.HandlerFunc
		want, absent []string
	}{
		"success": {pass, []string{"level=INFO", "status=200", "request_id=my-id", "method=POST", "path=/plants", "subject=somebody"}, []string{"error="}},
		"refusal": {
			fail(models.NewError(models.CodeConflict, "taken")),
			[]string{"level=INFO", "status=400", "error=409", "message=taken"},
			[]string{"cause="},
		},
		"overload": {
			fail(models.NewError(models.CodeUnavailable, "later").WithCause(errors.New("queue full"))),
			[]string{"level=WARN", "error=503", `cause="queue full"`},
			nil,
		},
		"fault": {fail(errors.New("disk broke")), []string{"level=ERROR", "error=500", `cause="disk broke"`}, nil},
	}
	verify := func(string) (string, error) { return "somebody", nil }
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/plants?access_token=hidden", nil)
			r.Header = http.Header{"Authorization": {"Bearer secret-token"}, "X-Request-Id": {"my-id"}}
			serve(t, r, middleware.Headers(), middleware.AccessLog(slog.New(slog.NewTextHandler(&log, nil)), nil),
				middleware.Bearer(verify, nil), tt.handler)
			if n := strings.Count(log.String(), "\n"); n != 1 {
				t.Errorf("%d lines", n)
			}
			for _, want := range tt.want {
				if !strings.Contains(log.String(), want) {
					t.Errorf("lacks %q: %s", want, &log)
				}
			}
			for _, absent := range append(tt.absent, "secret-token", "hidden") {
				if strings.Contains(log.String(), absent) {
					t.Errorf("holds %q: %s", absent, &log)
				}
			}
		})
	}
}

func TestAccessLogLevel(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	serve(t, post(t, http.Header{}, nil), middleware.AccessLog(logger, nil), pass)
	if log.Len() > 0 {
		t.Errorf("logged %s", &log)
	}
}
