package routes_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"plantstore/internal/apidocs"
	"plantstore/models"
	"plantstore/routes"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// newHandler returns the handler over a store; "good" is a valid token.
func newHandler(t *testing.T, store routes.Store, change ...func(*routes.Options)) http.Handler {
	t.Helper()
	description, err := apidocs.New("http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	options := routes.Options{
		Store: store,
		Verify: func(token string) (string, error) {
			if token != "good" {
				return "", models.NewError(models.CodeUnauthorized, "bad token")
			}
			return "tester", nil
		},
		Description:  description,
		Page:         apidocs.NewPage(),
		Logger:       slog.New(slog.DiscardHandler),
		MaxBodyBytes: 1000,
	}
	for _, c := range change {
		c(&options)
	}
	return routes.New(options)
}

// newStore returns a real store that is closed after the test.
func newStore(t *testing.T) *storage.Store {
	t.Helper()
	engines := storage.Engines{"bbolt": bbolt.Open}
	store, err := engines.Open(t.Context(), filepath.Join(t.TempDir(), "plants.db"), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	if err := json.Unmarshal(w.Body.Bytes(), &got, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%q: %v", w.Body, err)
	}
	if w.Code != http.StatusBadRequest || got.Code != code || got.Message == "" || !strings.Contains(got.Message, text) {
		t.Errorf("got %d %s, want 400 with error %d and %q", w.Code, w.Body, code, text)
	}
	if body := w.Body.String(); !strings.HasSuffix(body, "}\n") {
		t.Errorf("got %q, want it to end with a newline", body)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "X-Content-Type-Options": "nosniff"} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if w.Header().Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	h := newHandler(t, store)
	tests := []struct {
		body string
		id   int64
		want string
	}{
		{`{"id":1,"name":"fern"}`, 1, `{"name":"fern"}`},
		{`{"tag":"","x":[1],"name":"<&>","id":2}`, 2, `{"name":"<&>","tag":""}`},
		{`{"id":-9223372036854775808,"name":"","tag":"\u0000"}`, math.MinInt64, `{"name":"","tag":"\u0000"}`},
		{`{"id":9223372036854775807.0,"name":"\ud83c\udf31"}`, math.MaxInt64, `{"name":"🌱"}`},
	}
	for _, tt := range tests {
		w := do(t, h, http.MethodPost, "/plants?ignored=%zz", tt.body)
		if w.Code != http.StatusOK || w.Body.String() != tt.want+"\n" {
			t.Errorf("%s: got %d %q, want %s and a newline", tt.body, w.Code, w.Body, tt.want)
		}
		stored, err := store.Get(t.Context(), tt.id)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := json.Marshal(stored); err != nil || string(kept) != tt.want {
			t.Errorf("%s: stored as %s, %v", tt.body, kept, err)
		}
	}
}

func TestCreateTwice(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newStore(t))
	const fern = `{"id":7,"name":"fern","tag":"a"}`
	if w := do(t, h, http.MethodPost, "/plants", fern); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	checkError(t, do(t, h, http.MethodPost, "/plants", fern), models.CodeConflict, "identical")
	for _, other := range []string{`{"id":7,"name":"moss","tag":"a"}`, `{"id":7,"name":"fern"}`, `{"id":7,"name":"fern","tag":""}`} {
		checkError(t, do(t, h, http.MethodPost, "/plants", other), models.CodeConflict, "different")
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	h := newHandler(t, store)
	tests := map[string]struct {
		body string
		code models.Code
		text string
	}{
		"no JSON":   {`{`, 400, "cut short"},
		"invalid":   {`{"name":1}`, 422, "id: is required; name: must be a string, not a number"},
		"too large": {`{"id":1,"name":"` + strings.Repeat("x", 1000) + `"}`, 413, "1000 bytes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkError(t, do(t, h, http.MethodPost, "/plants", tt.body), tt.code, tt.text)
		})
	}
}

// TestOrderOfChecks corrects one fault after the other, in the order of C2.8.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newStore(t))
	large := strings.Repeat("x", 1001)
	steps := []struct {
		method, target, authorization, contentType, body string
		code                                             models.Code
	}{
		{"PUT", "/plant", "", "", large, 404},
		{"PUT", "/plants", "", "", large, 405},
		{"POST", "/plants", "", "", large, 401},
		{"POST", "/plants", "Bearer good", "", large, 415},
		{"POST", "/plants", "Bearer good", "application/json", large, 413},
		{"POST", "/plants", "Bearer good", "application/json", large[:1000], 400},
		{"POST", "/plants", "Bearer good", "application/json", "{}", 422},
		{"POST", "/plants", "Bearer good", "application/json", `{"id":1,"name":"x"}`, 200},
		{"POST", "/plants", "Bearer good", "application/json", `{"id":1,"name":"x"}`, 409},
	}
	for _, step := range steps {
		r := httptest.NewRequestWithContext(t.Context(), step.method, step.target, strings.NewReader(step.body))
		r.Header.Set("Authorization", step.authorization)
		r.Header.Set("Content-Type", step.contentType)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if step.code != http.StatusOK {
			checkError(t, w, step.code, "")
		} else if w.Code != http.StatusOK {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	}
}

func TestRouting(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newStore(t))
	good := `{"id":1,"name":"x"}`
	if w := do(t, h, http.MethodPost, "/%70lants", good); w.Code != http.StatusOK {
		t.Errorf("/%%70lants: %d %s", w.Code, w.Body)
	}
	for _, target := range []string{"/", "/plants/", "//plants", "/Plants", "/plants/1", "/plants%2F", "/./plants", "/plants;a=b", "/plants%00", "/docs/"} {
		checkError(t, do(t, h, http.MethodPost, target, good), models.CodeNotFound, "POST /plants")
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "post", "BREW"} {
		w := do(t, h, method, "/plants", "")
		checkError(t, w, models.CodeMethodNotAllowed, "send POST")
		if got := w.Header().Get("Allow"); got != "POST" {
			t.Errorf("%s: Allow %q", method, got)
		}
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newStore(t))
	for path, contentType := range map[string]string{"/openapi.yaml": "application/yaml", "/openapi.json": "application/json"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != contentType || !strings.Contains(w.Body.String(), "createPlant") {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		r.Header.Set("If-None-Match", w.Header().Get("ETag"))
		again := httptest.NewRecorder()
		h.ServeHTTP(again, r)
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s again: %d, %d bytes", path, again.Code, again.Body.Len())
		}
		if w := do(t, h, http.MethodHead, path, ""); w.Code != http.StatusOK {
			t.Errorf("HEAD %s: %d", path, w.Code)
		}
		w = do(t, h, http.MethodPost, path, "")
		checkError(t, w, models.CodeMethodNotAllowed, "send GET or HEAD")
		allow := strings.Split(w.Header().Get("Allow"), ", ")
		slices.Sort(allow)
		if !slices.Equal(allow, []string{"GET", "HEAD"}) {
			t.Errorf("%s: Allow %q", path, allow)
		}
	}
}

// A brokenStore fails every create with the same error.
type brokenStore struct{ err error }

func (s brokenStore) Create(context.Context, int64, models.Plant) error { return s.err }

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
		"corrupt":     {&storage.CorruptError{Err: storage.ErrCorrupt}, 500, "taken by a corrupt record"},
		"bad page":    {storage.ErrCorrupt, 500, "was not stored: the database is corrupt"},
		"other":       {errors.New("broken"), 500, "not stored"},
		"late":        {context.DeadlineExceeded, 500, "not stored"},
		"short write": {io.ErrShortWrite, 500, "not stored"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Like the engines' errors, with a detail that must not reach a client.
			inner := errors.Join(errors.New("write /data/plants.db: input/output error"), tt.err)
			w := do(t, newHandler(t, brokenStore{inner}), http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
			checkError(t, w, tt.code, tt.text)
			if strings.Contains(w.Body.String(), "/data") || strings.Contains(w.Body.String(), "output") {
				t.Errorf("the response discloses details: %s", w.Body)
			}
		})
	}
}
