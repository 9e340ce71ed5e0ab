package operate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"plantstore/internal/must"
	"plantstore/internal/requests"
	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/middleware/auth"
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

// newOperator returns an operator of that store.
func newOperator(s *store) *Operator {
	return &Operator{
		Problem:  func() (string, error) { return s.problem, s.cause },
		Requests: requests.NewRecorder(),
		Logger:   slog.New(slog.DiscardHandler),
		Metrics: Metrics{
			Version: "v1.2.3", Observer: NewObserver(),
			Store:  func() storage.Stats { return s.stats },
			Server: func() server.Stats { return server.Stats{} },
			Tokens: func() auth.Stats {
				return auth.Stats{Issuer: &auth.IssuerStats{Fetched: time.UnixMilli(1_700_000_000_000), Keys: 3, Failures: 4}}
			},
			CertificateExpires: func() time.Time { return time.UnixMilli(1_800_000_000_000) },
		},
	}
}

// newHandler returns the handler under test, for that store.
func newHandler(s *store, change ...func(*Operator)) http.Handler {
	operator := newOperator(s)
	for _, c := range change {
		c(operator)
	}
	return operator.Handler(Admin)
}

// send returns the response to a request.
func send(t *testing.T, h http.Handler, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody)
	r.Header.Set("X-Request-Id", "mine-1")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Header().Get("X-Request-Id") != "mine-1" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %s: the headers are %v", method, target, w.Header())
	}
	return w
}

func TestPaths(t *testing.T) {
	t.Parallel()
	h := newHandler(newStore())
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if w := send(t, h, method, path); w.Code != http.StatusOK {
				t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
		}
		w := send(t, h, http.MethodPost, path)
		must.Refuse(t, w, models.CodeMethodNotAllowed, "Allow")
		if allow := w.Header().Get("Allow"); allow != "GET, HEAD" {
			t.Errorf("%s: Allow %q", path, allow)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		w := send(t, h, method, "/reset")
		must.Refuse(t, w, models.CodeMethodNotAllowed, "Allow")
		if allow := w.Header().Get("Allow"); allow != "POST" {
			t.Errorf("%s /reset: Allow %q", method, allow)
		}
	}
	for _, path := range []string{"/", "/plants", "/livez/", "/Readyz", "/debug/pprof/", "/debug/pprof/heap"} {
		must.Refuse(t, send(t, h, http.MethodGet, path), models.CodeNotFound, "/readyz")
	}
}

// TestRequests checks that the kept requests are JSON Lines.
func TestRequests(t *testing.T) {
	t.Parallel()
	recorder := requests.NewRecorder()
	h := newHandler(newStore(), func(o *Operator) { o.Requests = recorder })
	for range 2 {
		recorder.Observe(t.Context(), middleware.NewRefusal(models.NewError(431, "too large"), "", ""))
	}
	w := send(t, h, http.MethodGet, "/requests")
	if lines := strings.SplitAfter(w.Body.String(), "\n"); len(lines) != 3 || !strings.Contains(lines[1], `"error":431`) || w.Header().Get("Content-Type") != "application/jsonl" {
		t.Errorf("the response is %v %s", w.Header(), w.Body)
	}
	must.Refuse(t, send(t, h, http.MethodGet, "/requests?afer=1"), models.CodeBadRequest, "no other parameters")
	if w := send(t, h, http.MethodPost, "/requests"); w.Header().Get("Allow") != "GET, HEAD, DELETE" {
		t.Errorf("the response is %v %s", w.Header(), w.Body)
	}
}

// TestReady checks that a reason why the server should not get requests makes /readyz fail, and not
// /livez. The log has changes of readiness, with causes, and the response none of these.
func TestReady(t *testing.T) {
	t.Parallel()
	s := newStore()
	var log strings.Builder
	h := newHandler(s, func(o *Operator) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for _, step := range []struct {
		problem string // empty: it is ready
		cause   error
		logged  string // empty: no line
	}{
		{"", nil, ""},
		{"no store", errors.New("the disk hums"), `level=WARN msg="not ready" why="no store" cause="the disk hums"`},
		{"no store", errors.New("it hums again"), ""},
		{"", nil, `level=INFO msg="ready again"`},
		{"shutting down", nil, `level=WARN msg="not ready" why="shutting down"`},
	} {
		log.Reset()
		s.problem, s.cause = step.problem, step.cause
		w, metric := send(t, h, http.MethodGet, "/readyz"), "\nplantstore_ready 0\n"
		if step.problem != "" {
			must.Refuse(t, w, models.CodeUnavailable, "not ready: "+step.problem)
		} else if metric = "\nplantstore_ready 1\n"; w.Code != http.StatusOK || w.Body.String() != `{"status":"ready"}`+"\n" {
			t.Errorf("the response is %d %s", w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), "hums") {
			t.Errorf("the response contains a cause: %s", w.Body)
		}
		if line := log.String(); !strings.Contains(line, step.logged) || (line == "") != (step.logged == "") {
			t.Errorf("%q is logged, want %q", line, step.logged)
		}
		if !strings.Contains(send(t, h, http.MethodGet, "/metrics").Body.String(), metric) {
			t.Errorf("the metrics lack %s", metric)
		}
		if w := send(t, h, http.MethodGet, "/livez"); w.Code != http.StatusOK || w.Body.String() != `{"status":"alive"}`+"\n" {
			t.Errorf("/livez: %d %s", w.Code, w.Body)
		}
	}
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	h := newHandler(newStore(), func(o *Operator) { o.Pprof = true })
	for _, target := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=1", "/debug/pprof/symbol"} {
		if w := send(t, h, http.MethodGet, target); w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%s: %d, %d bytes", target, w.Code, w.Body.Len())
		}
	}
	for _, seconds := range []string{"x", "-1", "111", "1e9", "NaN", "Inf", "1&seconds=100000", ""} {
		must.Refuse(t, send(t, h, http.MethodGet, "/debug/pprof/profile?seconds="+seconds), models.CodeBadRequest,
			"the profile was refused: seconds: must be a number from 0 to 110")
	}
	for _, path := range []string{"/debug/pprof", "/debug/pprof/cmdline", "/debug/pprof/nosuch"} {
		must.Refuse(t, send(t, h, http.MethodGet, path), models.CodeNotFound, "")
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	reset := func(plants int64, err error) http.Handler {
		return newHandler(newStore(), func(o *Operator) {
			o.Reset = func(context.Context) (int64, error) { return plants, err }
		})
	}
	if w := send(t, reset(100, nil), http.MethodPost, "/reset"); w.Code != http.StatusOK || w.Body.String() != `{"status":"reset","plants":100}`+"\n" {
		t.Errorf("the response is %d %s", w.Code, w.Body)
	}
	for text, want := range map[string]struct {
		err  error
		code models.Code
	}{
		"--ephemeral":      {models.NewError(models.CodeForbidden, "not --ephemeral"), models.CodeForbidden},
		"not available":    {fmt.Errorf("x: %w", storage.ErrUnavailable), models.CodeUnavailable},
		"the reset failed": {errors.New("a secret"), models.CodeInternal},
	} {
		must.Refuse(t, send(t, reset(0, want.err), http.MethodPost, "/reset"), want.code, text)
	}
}

// TestGuard checks that requests that a page in a browser could send do nothing; requests of
// tools and people do.
func TestGuard(t *testing.T) {
	t.Parallel()
	loopback, public := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8081}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 8081}
	resets := 0
	h := newHandler(newStore(), func(o *Operator) {
		o.Reset = func(context.Context) (int64, error) { resets++; return 0, nil }
	})
	for _, test := range []struct {
		local       net.Addr
		host        string
		name, value string // of a header field
		passes      bool
	}{
		{loopback, "LOCALHOST", "", "", true},
		{loopback, "127.1.2.3:8081", "", "", true},
		{loopback, "[::1]:9090", "", "", true},
		{loopback, "[::1]", "", "", true},
		{loopback, "", "", "", true}, // HTTP/1.0
		{loopback, "localhost.evil.example:8081", "", "", false},
		{loopback, "10.0.0.1:8081", "", "", false},
		{loopback, "[::2]:8081", "", "", false},
		{loopback, "127.0.0.1.evil.example", "", "", false},
		{&net.TCPAddr{IP: net.IPv6loopback}, "evil.example", "", "", false},
		{public, "plants.example:8081", "", "", true},
		{loopback, "localhost:8081", "Sec-Fetch-Site", "none", true},
		{loopback, "localhost:8081", "Sec-Fetch-Site", "same-origin", true},
		{loopback, "localhost:8081", "Sec-Fetch-Site", "same-site", false},
		{public, "plants.example", "Sec-Fetch-Site", "cross-site", false},
		{loopback, "localhost:8081", "Origin", "http://localhost:8081", true},
		{loopback, "localhost:8081", "Origin", "http://localhost:3000", false},
		{loopback, "localhost:8081", "Origin", "null", false},
	} {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, test.local)
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/reset", http.NoBody)
		r.Host = test.host
		r.Header.Set(test.name, test.value)
		w := httptest.NewRecorder()
		resets = 0
		h.ServeHTTP(w, r)
		if (w.Code == http.StatusOK) != test.passes || (resets > 0) != test.passes {
			t.Errorf("%+v: status %d: %s, %d resets", test, w.Code, w.Body, resets)
		}
	}
}

// TestAllowLists checks what each listener serves.
func TestAllowLists(t *testing.T) {
	t.Parallel()
	const (
		admin = "GET /livez, GET /readyz, GET /metrics, POST /reset, GET /requests, DELETE /requests"
		both  = "GET /readyz, POST /reset, GET /requests, "
		page  = "GET /count, GET /page/plants, GET /page/creates, GET /page/requests"
	)
	for listener, want := range map[Listener]string{
		Admin:  admin,
		Page:   page,
		Socket: both + "GET /info, GET /plant, GET /plants, POST /plants, QUERY /plants, GET /snapshot, " + page,
	} {
		var got []string
		for _, e := range endpoints() {
			if e.listeners&listener != 0 {
				got = append(got, strings.TrimSuffix(e.methods, ", HEAD")+" "+e.path)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%d serves %s, want %s", listener, strings.Join(got, ", "), want)
		}
	}
}
