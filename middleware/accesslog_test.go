package middleware_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"plantstore/middleware"
	"plantstore/models"
)

// lineOf returns the access log's line for a request, decoded from JSON.
func lineOf(t *testing.T, level slog.Level, r *http.Request, handlers ...gin.HandlerFunc) map[string]any {
	t.Helper()
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: level}))
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(middleware.Headers(), middleware.AccessLog(logger, nil))
	router.NoRoute(handlers...)
	for range 2 { // the second reuses the pooled line of the first
		log.Reset()
		router.ServeHTTP(httptest.NewRecorder(), r)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("%s: %v", &log, err)
	}
	return line
}

// TestTraceparent checks that only the trace id of a single valid traceparent is logged (W3C
// Trace Context, 3.2).
func TestTraceparent(t *testing.T) {
	t.Parallel()
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	const good = "00-" + trace + "-" + parent + "-01"
	tests := map[string]struct {
		sent []string
		want any
	}{
		"none":               {nil, nil},
		"valid":              {[]string{good}, trace},
		"not sampled":        {[]string{"00-" + trace + "-" + parent + "-00"}, trace},
		"unknown flags":      {[]string{"00-" + trace + "-" + parent + "-ff"}, trace},
		"later version":      {[]string{"cc-" + trace + "-" + parent + "-01"}, trace},
		"later, with more":   {[]string{"cc-" + trace + "-" + parent + "-01-what.the"}, trace},
		"later, no dash":     {[]string{"cc-" + trace + "-" + parent + "-01.what"}, nil},
		"version 00 with on": {[]string{good + "-x"}, nil},
		"version ff":         {[]string{"ff" + good[2:]}, nil},
		"two":                {[]string{good, good}, nil},
		"empty":              {[]string{""}, nil},
		"short":              {[]string{good[:len(good)-1]}, nil},
		"upper case":         {[]string{strings.ToUpper(good)}, nil},
		"no hexadecimal":     {[]string{strings.Replace(good, "0af", "0ag", 1)}, nil},
		"no trace":           {[]string{"00-" + strings.Repeat("0", 32) + "-" + parent + "-01"}, nil},
		"no parent":          {[]string{"00-" + trace + "-" + strings.Repeat("0", 16) + "-01"}, nil},
		"other separators":   {[]string{strings.ReplaceAll(good, "-", "_")}, nil},
		"line break":         {[]string{good[:54] + "\n"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := lineOf(t, slog.LevelInfo, post(t, http.Header{"Traceparent": tt.sent}, nil), pass)
			if line["trace_id"] != tt.want {
				t.Errorf("trace_id %v, want %v", line["trace_id"], tt.want)
			}
		})
	}
}

// TestLine checks that a log line includes the plant's id and the outcome, and more at level
// debug.
func TestLine(t *testing.T) {
	t.Parallel()
	note := func(c *gin.Context) { middleware.RequestOf(c).NotePlant(-7, time.Second, false) }
	unknown := func(c *gin.Context) { middleware.RequestOf(c).NotePlant(-7, time.Second, true) }
	fail := func(err error) gin.HandlerFunc { return func(c *gin.Context) { middleware.Fail(c, err) } }
	tests := map[string]struct {
		handlers []gin.HandlerFunc
		want     map[string]any
	}{
		"created":     {[]gin.HandlerFunc{note, pass}, map[string]any{"outcome": "created", "plant_id": -7.0, "store_duration_ms": 1000.0, "error": nil}},
		"no plant":    {[]gin.HandlerFunc{pass}, map[string]any{"outcome": "read", "plant_id": nil, "store_duration_ms": nil}},
		"taken":       {[]gin.HandlerFunc{note, fail(models.NewError(models.CodeConflict, "taken"))}, map[string]any{"outcome": "refused", "plant_id": -7.0, "error": 409.0}},
		"unknown":     {[]gin.HandlerFunc{unknown, fail(errors.New("bug"))}, map[string]any{"outcome": "unknown", "plant_id": -7.0, "error": 500.0, "level": "ERROR"}},
		"unavailable": {[]gin.HandlerFunc{fail(models.NewError(models.CodeInsufficientSpace, "full"))}, map[string]any{"outcome": "failed", "error": 507.0, "level": "WARN"}},
		"unsupported": {[]gin.HandlerFunc{fail(models.NewError(models.CodeNotImplemented, "no"))}, map[string]any{"outcome": "refused", "error": 501.0, "level": "INFO"}},
		"failed":      {[]gin.HandlerFunc{fail(errors.New("bug"))}, map[string]any{"outcome": "failed", "error": 500.0, "cause": "bug", "level": "ERROR"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := post(t, http.Header{"User-Agent": {"a browser"}, "Prefer": {"code=503", "wait=1"}}, strings.NewReader("12345"))
			for level, more := range map[slog.Level]map[string]any{
				slog.LevelInfo:  {"user_agent": nil, "body_bytes": nil, "prefer_ignored": nil},
				slog.LevelDebug: {"user_agent": "a browser", "body_bytes": 5.0, "prefer_ignored": "code=503, wait=1"},
			} {
				line := lineOf(t, level, r, tt.handlers...)
				for _, want := range []map[string]any{tt.want, more} {
					for name, value := range want {
						if line[name] != value {
							t.Errorf("%s: %v, want %v in %v", name, line[name], value, line)
						}
					}
				}
			}
		})
	}
}

// TestLineIsReset checks that a pooled line keeps no attribute of the previous request.
func TestLineIsReset(t *testing.T) {
	t.Parallel()
	n := 0
	line := lineOf(t, slog.LevelInfo, post(t, nil, nil), func(c *gin.Context) {
		if n++; n == 1 {
			middleware.RequestOf(c).NotePlant(1, 1, true)
			middleware.Fail(c, errors.New("bug"))
		}
	})
	if line["plant_id"] != nil || line["error"] != nil {
		t.Errorf("the second line is %v", line)
	}
}

// TestLineHidesTokens checks that a token is not logged, wherever the client sends it (C4.25).
func TestLineHidesTokens(t *testing.T) {
	t.Parallel()
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"
	r := httptest.NewRequestWithContext(t.Context(), token, "/x/"+token+"/y?access_token="+token, nil)
	r.Header = http.Header{"X-Request-Id": {token}, "User-Agent": {"x " + token}, "Traceparent": {token}, "Authorization": {"Bearer " + token}}
	line := lineOf(t, slog.LevelDebug, r, pass)
	text, err := json.Marshal(line)
	if err != nil || strings.Contains(string(text), "c2lnbmF0dXJl") || line["path"] != "REDACTED" {
		t.Errorf("the line is %s: %v", text, err)
	}
}

// TestLineHasSubject checks that a line has the subject of the token as it is, whatever it looks
// like.
func TestLineHasSubject(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ subject, want string }{
		"none":       {"", ""},
		"control":    {"a\x1b[2J\u202e\n\"b", "a\x1b[2J\u202e\n\"b"},
		"like token": {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bearer := middleware.Bearer(func(string) (string, error) { return tt.subject, nil }, nil)
			line := lineOf(t, slog.LevelInfo, post(t, http.Header{"Authorization": {"Bearer x"}}, nil), bearer)
			if line["subject"] != tt.want {
				t.Errorf("subject %q, want %q", line["subject"], tt.want)
			}
		})
	}
}

// BenchmarkAccessLog measures the cost of a line: the difference between the two cases.
func BenchmarkAccessLog(b *testing.B) {
	for name, level := range map[string]slog.Level{"on": slog.LevelInfo, "off": slog.LevelError} {
		b.Run(name, func(b *testing.B) {
			gin.SetMode(gin.ReleaseMode)
			router := gin.New()
			logger := slog.New(slog.NewJSONHandler(struct{ io.Writer }{io.Discard}, &slog.HandlerOptions{Level: level}))
			router.Use(middleware.Headers(), middleware.AccessLog(logger, nil))
			router.POST("/plants", func(c *gin.Context) { middleware.RequestOf(c).NotePlant(7, time.Millisecond, false) })
			r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/plants", nil)
			b.ReportAllocs()
			for b.Loop() {
				router.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}
