package routes_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/conformance"
	"plantstore/internal/must"
	"plantstore/internal/server"
	"plantstore/internal/watchdog"
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
	store := must.Get(bbolt.OpenFile(filepath.Join(t.TempDir(), "plants.db"), storage.Options{}))(t)
	t.Cleanup(func() { must.Do(t, store.Close()) })
	return store
}

func send(t *testing.T, h http.Handler, method, target, body string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header = header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// do sends a request with a valid credential and media type.
func do(t *testing.T, h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	return send(t, h, method, target, body, http.Header{"Authorization": {"Bearer good"}, "Content-Type": {"application/json"}})
}

// get sends a request without a body and a credential.
func get(t *testing.T, h http.Handler, method, target string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	return send(t, h, method, target, "", header)
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
	report, err := conformance.Run(t.Context(), conformance.Options{
		URL: "http://" + listener.Addr().String(), Token: "good", Origin: origin, FreshStore: true, Timeout: time.Minute,
		Rules: []string{"C1.1", "C1.2", "C1.6", "C2.8", "C2.9", "C2.15", "C3.17", "C3.18", "C3.19", "C4.20", "C5.27"},
	})
	if err != nil || report.Deviations() > 0 {
		var text strings.Builder
		t.Errorf("%v, %v:\n%s", err, report.WriteVerbose(&text), &text)
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
		must.Refuse(t, w, tt.code, tt.text)
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
			must.Refuse(t, w, models.CodeMethodNotAllowed, text)
			if allow := w.Header().Get("Allow"); allow != "POST" {
				t.Errorf("Allow %q, want POST", allow)
			}
		}
	}
}

func TestMain(m *testing.M) { watchdog.Main(m) }

// panicking is a store that panics at each create.
type panicking struct{ routes.Store }

// TestObserve checks that the outcome of each request is observed once, including those of preflights
// and panics.
func TestObserve(t *testing.T) {
	t.Parallel()
	type observed struct {
		Method, Name string
		Code         models.Code
	}
	var got []observed
	observe := func(o *routes.Options) {
		o.Origins = middleware.Origins{"*"}
		o.Observe = func(_ context.Context, o *middleware.Outcome) {
			if o.Took <= 0 {
				t.Errorf("%s, %s: it took %v", o.Method, o.Name, o.Took)
			}
			got = append(got, observed{o.Method, o.Name, 0})
			if o.Error != nil {
				got[len(got)-1].Code = o.Error.Code
			}
		}
	}
	h := newHandler(t, newStore(t), observe)
	do(t, h, http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
	do(t, h, http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
	do(t, h, http.MethodPost, "/plants", `{`)
	do(t, h, http.MethodGet, "/plants", "")
	do(t, h, http.MethodGet, "/nowhere", "")
	do(t, h, http.MethodGet, "/openapi.json", "")
	get(t, h, http.MethodOptions, "/plants", http.Header{"Origin": {"https://a.test"}, "Access-Control-Request-Method": {"POST"}})
	do(t, newHandler(t, panicking{}, observe), http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
	want := []observed{
		{"POST", "created", 0},
		{"POST", "refused", 409},
		{"POST", "refused", 400},
		{"GET", "refused", 405},
		{"GET", "refused", 404},
		{"GET", "read", 0},
		{"OPTIONS", "read", 0},
		{"POST", "failed", 500},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDefaults checks that only the store and the verifier are required: a handler without others
// limits the body to 1 MiB, and describes itself by the Host of the request.
func TestDefaults(t *testing.T) {
	t.Parallel()
	verify := func(context.Context, string) (string, error) { return "tester", nil }
	h := must.Get(routes.New(routes.Options{Store: newStore(t), Verify: verify}))(t)
	body := func(size int) string { return `{"id":1,"name":"` + strings.Repeat("x", size-18) + `"}` }
	if w := do(t, h, http.MethodPost, "/plants", body(1<<20)); w.Code != http.StatusOK {
		t.Errorf("a body of 1 MiB: %d %.100s", w.Code, w.Body)
	}
	must.Refuse(t, do(t, h, http.MethodPost, "/plants", body(1<<20+1)), models.CodeContentTooLarge, "1048576 bytes")
	if w := get(t, h, http.MethodGet, "/openapi.yaml", nil); !strings.Contains(w.Body.String(), `"http://example.com"`) { // of httptest
		t.Errorf("the description is %.300s", w.Body)
	}
}

// TestNewFails checks that a handler without a verifier does not accept everything: there is none.
func TestNewFails(t *testing.T) {
	t.Parallel()
	store, verify := brokenStore{}, func(context.Context, string) (string, error) { return "tester", nil }
	for name, options := range map[string]routes.Options{
		"nothing":   {},
		"no verify": {Store: store},
		"no store":  {Verify: verify},
		"bad URL":   {Store: store, Verify: verify, BaseURL: "http://\xff"},
	} {
		if h, err := routes.New(options); err == nil || h != nil {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
}

// A limiter records its clients. It makes the client in refuses wait.
type limiter struct {
	refuses string
	clients []string
}

func (l *limiter) Take(_ context.Context, client string) time.Duration {
	l.clients = append(l.clients, client)
	if client == l.refuses {
		return time.Second
	}
	return 0
}

func (*limiter) Rate() string { return "100/s" }

// TestOrderOfRateLimit checks that the rate limit comes between the credential and the media
// type (C2.8), and that it counts requests that fail later.
func TestOrderOfRateLimit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path, token, mediaType string
		refuses                string
		want                   string // part of the response
		counted                []string
	}{
		"within the limit":          {"/plants", "good", "application/json", "", `"name":"x"`, []string{"tester"}},
		"the token before":          {"/plants", "bad", "application/json", "tester", `"error":401`, nil},
		"the limit before the type": {"/plants", "good", "text/plain", "tester", `"error":429`, []string{"tester"}},
		"the type after the limit":  {"/plants", "good", "text/plain", "", `"error":415`, []string{"tester"}},
		"only creates are limited":  {"/openapi.json", "good", "", "tester", `"error":405`, nil},
	} {
		l := &limiter{refuses: tt.refuses}
		h := newHandler(t, newStore(t), func(o *routes.Options) { o.RateLimit = l })
		header := http.Header{"Authorization": {"Bearer " + tt.token}, "Content-Type": {tt.mediaType}}
		w := send(t, h, http.MethodPost, tt.path, `{"id":1,"name":"x"}`, header)
		if !strings.Contains(w.Body.String(), tt.want) || !slices.Equal(tt.counted, l.clients) {
			t.Errorf("%s: got %s, and the limiter was called with %q; want %s, %q", name, w.Body, l.clients, tt.want, tt.counted)
		}
	}
}
