package middleware_test

import (
	"bytes"
	"context"
	"errors"
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
	router.Use(middleware.Headers(), middleware.Outcomes(middleware.AccessLog(logger)))
	router.NoRoute(handlers...)
	for range 2 { // the second reuses the pooled line of the first
		log.Reset()
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		if w.Header().Get("X-Request-Id") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("the response has the header %v", w.Header())
		}
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
	for want, all := range map[any][][]string{
		trace: {
			{good},
			{"00-" + trace + "-" + parent + "-ff"},
			{"cc-" + trace + "-" + parent + "-01-what.the"},
		},
		nil: {
			{"cc-" + trace + "-" + parent + "-01.what"},
			{good + "-x"},
			{"ff" + good[2:]},
			{good, good},
			{good[:len(good)-1]},
			{strings.ToUpper(good)},
			{"00-" + strings.Repeat("0", 32) + "-" + parent + "-01"},
			{"00-" + trace + "-" + strings.Repeat("0", 16) + "-01"},
			{good[:54] + "\n"},
			{"cc-" + trace + "-" + parent + "-01-" + strings.Repeat("x", 255)},
		},
	} {
		for _, sent := range all {
			line := lineOf(t, slog.LevelInfo, post(t, http.Header{"Traceparent": sent}, nil), pass)
			if line["trace_id"] != want {
				t.Errorf("%q: trace_id %v, want %v", sent, line["trace_id"], want)
			}
		}
	}
}

// TestLine checks the line of each outcome: its level, the plant, the Error and its cause. At level
// debug it has more. A pooled line keeps nothing of the previous request.
func TestLine(t *testing.T) {
	t.Parallel()
	note := func(c *gin.Context) { middleware.OutcomeOf(c).NotePlant(-7, time.Second, false) }
	unknown := func(c *gin.Context) { middleware.OutcomeOf(c).NotePlant(-7, time.Second, true) }
	later := models.NewError(models.CodeUnavailable, "later").WithCause(errors.New("queue full"))
	requests := 0
	onlyFirst := func(c *gin.Context) {
		if requests++; requests%2 == 1 {
			unknown(c)
			middleware.OutcomeOf(c).Subject = "the previous client"
			c.Set("user", "the previous client")
			fail(later)(c)
		} else if user, found := c.Get("user"); found {
			t.Errorf("the user is %v", user)
		}
	}
	tests := map[string]struct {
		handlers []gin.HandlerFunc
		want     map[string]any
	}{
		"created": {[]gin.HandlerFunc{note, pass}, map[string]any{
			"level": "INFO", "outcome": "created", "plant_id": -7.0, "store_duration_ms": 1000.0, "error": nil, "cause": nil,
			"status": 200.0, "method": "POST", "path": "/plants", "request_id": "my-id",
		}},
		"taken": {[]gin.HandlerFunc{note, fail(models.NewError(models.CodeConflict, "taken"))}, map[string]any{
			"level": "INFO", "outcome": "refused", "plant_id": -7.0, "status": 400.0, "error": 409.0, "message": "taken", "cause": nil,
		}},
		"unknown": {[]gin.HandlerFunc{unknown, fail(errors.New("bug"))}, map[string]any{
			"level": "ERROR", "outcome": "unknown", "plant_id": -7.0, "error": 500.0,
		}},
		"failed": {[]gin.HandlerFunc{fail(errors.New("bug"))}, map[string]any{
			"level": "ERROR", "outcome": "failed", "error": 500.0, "cause": "bug",
		}},
		"unavailable": {[]gin.HandlerFunc{fail(later)}, map[string]any{
			"level": "WARN", "outcome": "failed", "error": 503.0, "cause": "queue full",
		}},
		"unsupported": {[]gin.HandlerFunc{fail(models.NewError(models.CodeNotImplemented, "no"))}, map[string]any{
			"level": "INFO", "outcome": "refused", "error": 501.0,
		}},
		"no plant": {[]gin.HandlerFunc{pass}, map[string]any{"outcome": "read", "plant_id": nil, "store_duration_ms": nil}},
		"reset":    {[]gin.HandlerFunc{onlyFirst}, map[string]any{"outcome": "read", "plant_id": nil, "error": nil, "subject": ""}},
	}
	for name, tt := range tests {
		header := http.Header{"User-Agent": {"a browser"}, "Prefer": {"code=503", "wait=1"}, "X-Request-Id": {"my-id"}}
		r := post(t, header, strings.NewReader("12345"))
		for level, more := range map[slog.Level]map[string]any{
			slog.LevelInfo:  {"user_agent": nil, "body_bytes": nil, "prefer_ignored": nil},
			slog.LevelDebug: {"user_agent": "a browser", "body_bytes": 5.0, "prefer_ignored": "code=503, wait=1"},
		} {
			line := lineOf(t, level, r, tt.handlers...)
			for _, wants := range []map[string]any{tt.want, more} {
				for attribute, want := range wants {
					if line[attribute] != want {
						t.Errorf("%s: %s is %v, want %v in %v", name, attribute, line[attribute], want, line)
					}
				}
			}
		}
	}
}

// TestLineHidesTokens checks that a token is not logged, wherever the client sends it (C4.25). The
// subject of a verified token is logged as it is, whatever it looks like.
func TestLineHidesTokens(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), aToken, "/x/"+aToken+"/y?access_token="+aToken, nil)
	for _, name := range []string{"X-Request-Id", "User-Agent", "Traceparent", "Prefer"} {
		r.Header.Set(name, aToken)
	}
	r.Header.Set("Authorization", "Bearer "+aToken)
	for _, subject := range []string{"", "a\x1b[2J\u202e\n\"b", aToken} {
		bearer := middleware.Bearer(func(context.Context, string) (string, error) { return subject, nil }, nil)
		line := lineOf(t, slog.LevelDebug, r, bearer, pass)
		if line["subject"] != subject {
			t.Errorf("subject %q, want %q", line["subject"], subject)
		}
		delete(line, "subject")
		text, err := json.Marshal(line)
		if err != nil || strings.Contains(string(text), "c2lnbmF0dXJl") || line["path"] != "/x/REDACTED/y" {
			t.Errorf("the line is %s: %v", text, err)
		}
	}
}

// TestLogLevel checks that requests that did not fail are not logged at level error.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	serve(t, post(t, nil, nil), middleware.Outcomes(middleware.AccessLog(logger)), pass)
	if log.Len() > 0 {
		t.Errorf("logged %s", &log)
	}
}
