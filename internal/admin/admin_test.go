package admin_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"plantstore/internal/admin"
	"plantstore/internal/auth"
	"plantstore/internal/requests"
	"plantstore/internal/server"
	"plantstore/models"
	"plantstore/storage"
)

// A store has a state that tests set.
type store struct {
	problem string
	cause   error
	stats   storage.Stats
}

// newStore returns a store that is ready.
func newStore() *store {
	return &store{stats: storage.Stats{File: &storage.FileStats{Plants: 7, Size: 4096, Free: 1 << 40}}}
}

// newOptions returns the options of a handler for that store.
func newOptions(t *testing.T, s *store) admin.Options {
	t.Helper()
	return admin.Options{
		Version: "v1.2.3", Observer: admin.NewObserver(), Logger: slog.New(slog.DiscardHandler),
		Store:    func() storage.Stats { return s.stats },
		Problem:  func() (string, error) { return s.problem, s.cause },
		Requests: requests.NewRecorder(),
		Server:   func() server.Stats { return server.Stats{} },
		Tokens: func() auth.Stats {
			return auth.Stats{Issuer: &auth.IssuerStats{Fetched: time.UnixMilli(1_700_000_000_000), Keys: 3, Failures: 4}}
		},
		CertificateExpires: func() time.Time { return time.UnixMilli(1_800_000_000_000) },
	}
}

// newHandler returns the handler under test, for that store.
func newHandler(t *testing.T, s *store, change ...func(*admin.Options)) http.Handler {
	t.Helper()
	options := newOptions(t, s)
	for _, c := range change {
		c(&options)
	}
	return admin.New(options)
}

// send returns the response to a request.
func send(t *testing.T, h http.Handler, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody))
	if w.Header().Get("X-Request-Id") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %s: the headers are %v", method, target, w.Header())
	}
	return w
}

// wantError checks that a response is an Error with that code and text.
func wantError(t *testing.T, w *httptest.ResponseRecorder, code models.Code, text string) {
	t.Helper()
	var got models.Error
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusBadRequest || got.Code != code ||
		!strings.Contains(got.Message, text) || w.Header().Get("Content-Type") != "application/json" || !strings.HasSuffix(w.Body.String(), "}\n") {
		t.Errorf("the response is %d %v %s, want error %d about %q", w.Code, w.Header(), w.Body, code, text)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newStore())
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if w := send(t, h, method, path); w.Code != http.StatusOK {
				t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
		}
		w := send(t, h, http.MethodPost, path)
		wantError(t, w, models.CodeMethodNotAllowed, "Allow")
		if allow := w.Header().Get("Allow"); allow != "GET, HEAD" {
			t.Errorf("%s: Allow %q", path, allow)
		}
	}
	for _, path := range []string{"/", "/plants", "/livez/", "/Readyz", "/debug/pprof/", "/debug/pprof/heap"} {
		wantError(t, send(t, h, http.MethodGet, path), models.CodeNotFound, "/readyz")
	}
}

// TestRequestID checks that a client's own request id is returned if it is valid.
func TestRequestID(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newStore())
	for sent, kept := range map[string]bool{"mine-1": true, "not\x00mine": false} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/livez", http.NoBody)
		r.Header["X-Request-Id"] = []string{sent}
		h.ServeHTTP(w, r)
		if got := w.Header().Get("X-Request-Id"); (got == sent) != kept || got == "" {
			t.Errorf("%q: the response has %q", sent, got)
		}
	}
}

// TestReady checks that a reason why the server should not get requests makes /readyz fail, and not
// /livez.
func TestReady(t *testing.T) {
	t.Parallel()
	s := newStore()
	h := newHandler(t, s)
	for _, problem := range []string{"", "the disk hums"} {
		s.problem = problem
		w, ready := send(t, h, http.MethodGet, "/readyz"), "plantstore_ready 1\n"
		if problem == "" {
			if w.Code != http.StatusOK || w.Body.String() != `{"status":"ready"}`+"\n" {
				t.Errorf("the response is %d %s", w.Code, w.Body)
			}
		} else {
			wantError(t, w, models.CodeUnavailable, "not ready: "+problem)
			ready = "plantstore_ready 0\n"
		}
		if metrics := send(t, h, http.MethodGet, "/metrics").Body.String(); !strings.Contains(metrics, "\n"+ready) {
			t.Errorf("the metrics lack %s", ready)
		}
		if w := send(t, h, http.MethodGet, "/livez"); w.Code != http.StatusOK || w.Body.String() != `{"status":"alive"}`+"\n" {
			t.Errorf("/livez: %d %s", w.Code, w.Body)
		}
	}
}

// TestReadyIsLogged checks that the log has changes of readiness, with causes, and the response
// none of these.
func TestReadyIsLogged(t *testing.T) {
	t.Parallel()
	s := newStore()
	var log strings.Builder
	h := newHandler(t, s, func(o *admin.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	set := func(problem string, cause error) func() { return func() { s.problem, s.cause = problem, cause } }
	for _, step := range []struct {
		change   func()
		response string // empty: it is ready
		logged   string // empty: no line
	}{
		{func() {}, "", ""},
		{set("no store", errors.New("the disk hums")), "not ready: no store", `level=WARN msg="not ready" why="no store" cause="the disk hums"`},
		{set("no store", errors.New("it hums again")), "not ready: no store", ""},
		{set("", nil), "", `level=INFO msg="ready again"`},
		{set("shutting down", nil), "not ready: shutting down", `level=WARN msg="not ready" why="shutting down"`},
	} {
		log.Reset()
		step.change()
		w := send(t, h, http.MethodGet, "/readyz")
		if step.response != "" {
			wantError(t, w, models.CodeUnavailable, step.response)
		}
		if line := log.String(); !strings.Contains(line, step.logged) || (line == "") != (step.logged == "") {
			t.Errorf("%q is logged, want %q", line, step.logged)
		}
		if strings.Contains(w.Body.String(), "hums") {
			t.Errorf("the response contains a cause: %s", w.Body)
		}
	}
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newStore(), func(o *admin.Options) { o.Pprof = true })
	for _, target := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=1", "/debug/pprof/symbol"} {
		if w := send(t, h, http.MethodGet, target); w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%s: %d, %d bytes", target, w.Code, w.Body.Len())
		}
	}
	for _, profile := range []string{"heap", "profile", "trace", "goroutine", "allocs", "block", "mutex", "threadcreate"} {
		for _, seconds := range []string{"x", "-1", "111", "100000", "1e9", "NaN", "Inf", "1&seconds=100000", ""} {
			wantError(t, send(t, h, http.MethodGet, "/debug/pprof/"+profile+"?seconds="+seconds), models.CodeBadRequest,
				"the profile was refused: seconds: must be a number from 0 to 110")
		}
	}
	for _, path := range []string{"/debug/pprof", "/debug/pprof/cmdline", "/debug/pprof/nosuch"} {
		wantError(t, send(t, h, http.MethodGet, path), models.CodeNotFound, "")
	}
}
