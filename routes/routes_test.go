package routes_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"plantstore/internal/conformance"
	"plantstore/internal/must"
	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/models"
	"plantstore/routes"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// newHandler returns the handler over a store; "good" is a valid token.
func newHandler(t *testing.T, store routes.Store, change ...func(*routes.Options)) http.Handler {
	t.Helper()
	options := routes.Options{
		Store: store,
		Verify: func(_ context.Context, token string) (string, error) {
			if token != "good" {
				return "", models.NewError(models.CodeUnauthorized, "bad token")
			}
			return "tester", nil
		},
		MaxBodyBytes: 1000,
	}
	for _, c := range change {
		c(&options)
	}
	return must.Get(routes.New(options))(t)
}

// newStore returns a real store that is closed after the test.
func newStore(t *testing.T) *storage.Store {
	t.Helper()
	engines := storage.Engines{"bbolt": bbolt.Open}
	store := must.Get(engines.Open(t.Context(), filepath.Join(t.TempDir(), "plants.db"), storage.Options{}))(t)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func do(t *testing.T, h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer good")
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// checkError checks that a response is an Error with a code and a message that contains text.
func checkError(t *testing.T, w *httptest.ResponseRecorder, code models.Code, text string) {
	t.Helper()
	var got models.Error
	err := json.Unmarshal(w.Body.Bytes(), &got, json.RejectUnknownMembers(true))
	if err != nil || w.Code != http.StatusBadRequest || got.Code != code || !strings.Contains(got.Message, text) {
		t.Errorf("got %d %s, %v, want 400 with error %d and %q", w.Code, w.Body, err, code, text)
	}
}

// TestContract runs the cases of the contract that are about the middleware, paths, methods, the order
// of the checks, and taken ids. TestConformance of internal/conformance runs all of them.
func TestContract(t *testing.T) {
	t.Parallel()
	const origin = "https://docs.test"
	h := newHandler(t, newStore(t), func(o *routes.Options) { o.MaxBodyBytes, o.Origins = 1<<20, middleware.Origins{origin} })
	s := server.New(server.Config{
		Handler: h, Logger: slog.New(slog.DiscardHandler), Refused: func(*models.Error, string, string) {},
		HeaderTimeout: time.Minute, RequestTimeout: time.Minute, ShutdownTimeout: time.Minute,
	})
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, listener) }()
	defer func() {
		stop()
		must.Do(t, <-ended)
	}()
	for _, rule := range []string{"C1.1", "C1.2", "C1.6", "C2.8", "C2.9", "C2.15", "C3.17", "C3.18", "C3.19", "C4.20", "C5.27"} {
		report, err := conformance.Run(t.Context(), conformance.Options{
			URL: "http://" + listener.Addr().String(), Token: "good", Origin: origin, Rule: rule, FreshStore: true, Timeout: time.Minute,
		})
		if err != nil || report.Deviations() > 0 {
			var text strings.Builder
			t.Errorf("%v, %v:\n%s", err, report.WriteVerbose(&text), &text)
		}
	}
}

// A brokenStore fails every create with the same error.
type brokenStore struct{ err error }

func (s brokenStore) Create(context.Context, int64, models.Plant) error { return s.err }

// TestStoreRefuses checks the Error and the outcome for each error of a store. The client learns
// nothing of its cause.
func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err  error
		code models.Code
		text string
	}{
		"no space":    {storage.ErrNoSpace, 507, "not stored"},
		"overloaded":  {storage.ErrOverloaded, 503, "not stored"},
		"unavailable": {storage.ErrUnavailable, 503, "not stored"},
		"unknown":     {storage.ErrUnknown, 500, "the outcome is unknown"},
		"and corrupt": {errors.Join(storage.ErrUnknown, storage.ErrCorrupt), 500, "the outcome is unknown"}, // as the cause
		"corrupt":     {&storage.CorruptError{Err: storage.ErrCorrupt}, 500, "taken by a corrupt record"},
		"bad page":    {storage.ErrCorrupt, 500, "was not stored: the database is corrupt"},
		"other":       {errors.New("broken"), 500, "not stored"},
	}
	for name, tt := range tests {
		// Like the engines' errors, with a detail that must not reach a client.
		inner := errors.Join(errors.New("write /data/plants.db: input/output error"), tt.err)
		var log strings.Builder
		h := newHandler(t, brokenStore{inner}, func(o *routes.Options) {
			o.Observe = middleware.AccessLog(slog.New(slog.NewTextHandler(&log, nil)))
		})
		w := do(t, h, http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
		checkError(t, w, tt.code, tt.text)
		outcome := "failed"
		if errors.Is(tt.err, storage.ErrUnknown) {
			outcome = "unknown"
		}
		if line := log.String(); !strings.Contains(line, "outcome="+outcome+" ") || !strings.Contains(line, "plant_id=1 ") {
			t.Errorf("%s: the log lacks the outcome %s, or the id: %s", name, outcome, line)
		}
		if strings.Contains(w.Body.String(), "/data") || strings.Contains(w.Body.String(), "output") {
			t.Errorf("%s: the response discloses details: %s", name, w.Body)
		}
	}
}

// TestPreflightOfAnotherOrigin checks that the Error of a preflight names the origin that is not
// allowed, if it is one (C3.19).
func TestPreflightOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	preflight := func(origin ...string) http.Header {
		return http.Header{"Origin": origin, "Access-Control-Request-Method": {"POST"}}
	}
	for _, origins := range []middleware.Origins{nil, {"https://a.test"}} {
		h := newHandler(t, newStore(t), func(o *routes.Options) { o.Origins = origins })
		for text, header := range map[string]http.Header{
			`pages of the origin "https://b.test" cannot use this service: it is not in CORS_ORIGINS of the server`: preflight("https://b.test"),
			`the origin "null" cannot`:                          preflight("null"),
			"this path does not support this method; send POST": {"Origin": {"https://b.test"}},
		} {
			w := get(t, h, http.MethodOptions, "/plants", header)
			checkError(t, w, models.CodeMethodNotAllowed, text)
			if allow := w.Header().Get("Allow"); allow != "POST" {
				t.Errorf("Allow %q, want POST", allow)
			}
		}
	}
}
