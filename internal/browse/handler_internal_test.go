package browse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/storage"
)

// get requests a target with a key, at a host.
func get(t *testing.T, s *Site, host, target, key string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	r.Host = host
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, r)
	return w
}

// TestGuard checks that plants are sent only with the key and to a loopback name in Host, and
// that no response permits the page more than necessary.
func TestGuard(t *testing.T) {
	t.Parallel()
	s := (&fakeStore{ids: []int64{1}}).site(t)
	for _, tt := range []struct {
		host, target, key string
		status            int
	}{
		{"127.0.0.1:1", "/", "", http.StatusOK},
		{"localhost:8090", "/", "", http.StatusOK}, // forwarded by ssh
		{"[::1]:1", "/browse.js", "", http.StatusOK},
		{"127.0.0.1", "/browse.css", "", http.StatusOK},
		{"127.0.0.1", "/icon.svg", "", http.StatusOK},
		{"127.0.0.1", "/api/plants", "key", http.StatusOK},
		{"127.0.0.1", "/api/count", "key", http.StatusOK},
		{"127.0.0.1", "/api/highest", "key", http.StatusOK},
		{"127.0.0.1", "/api/plants", "", http.StatusUnauthorized},
		{"127.0.0.1", "/api/plants?key=key", "", http.StatusUnauthorized},
		{"127.0.0.1", "/api/plants", "ke", http.StatusUnauthorized},
		{"127.0.0.1", "/api/plants", "key ", http.StatusUnauthorized},
		{"127.0.0.1", "/api/count", "KEY", http.StatusUnauthorized},
		{"127.0.0.1", "/api/highest", "wrong", http.StatusUnauthorized},
		{"evil.example", "/", "", http.StatusMisdirectedRequest},
		{"127.0.0.1.evil.example", "/", "", http.StatusMisdirectedRequest},
		{"evil.example:80", "/api/plants", "key", http.StatusMisdirectedRequest},
		{"", "/api/plants", "key", http.StatusMisdirectedRequest},
		{"127.0.0.1", "/page/index.html", "key", http.StatusNotFound},
		{"127.0.0.1", "/api/", "key", http.StatusNotFound},
	} {
		w := get(t, s, tt.host, tt.target, tt.key)
		if w.Code != tt.status {
			t.Errorf("%s at %s: %d, want %d", tt.target, tt.host, w.Code, tt.status)
		}
		if w.Code != http.StatusOK && strings.Contains(w.Body.String(), "plants\":[") {
			t.Errorf("%s at %s: plants in %s", tt.target, tt.host, w.Body)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s at %s: %s: %q", tt.target, tt.host, name, got)
			}
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Error(policy)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/api/plants", http.NoBody)
	r.Header.Set("Authorization", "Bearer key")
	w := httptest.NewRecorder()
	if s.handler().ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// TestNothingInline checks that no file of the page contains a script or style that the policy
// forbids.
func TestNothingInline(t *testing.T) {
	t.Parallel()
	page := must.Get(pageFiles.ReadFile("page/index.html"))(t)
	for _, inline := range []string{"style=", "<style", "onclick", "<script>", "http:", "https:"} {
		if strings.Contains(string(page), inline) {
			t.Errorf("the page contains %s", inline)
		}
	}
}

func TestResponses(t *testing.T) {
	t.Parallel()
	f := &fakeStore{ids: []int64{-3, 7}, names: map[int64]string{7: "<b>\u202e"}}
	for target, want := range map[string]string{
		"/api/plants":                           `200 {"plants":[{"id":"-3","name":{"text":"x"}},{"id":"7","name":{"text":"<b>` + "\u202e" + `"}}],"searched":2}`,
		"/api/plants?from=8":                    `200 {"plants":[],"searched":0}`,
		"/api/plants?from=+-2":                  `200 {"plants":[{"id":"7","name":{"text":"<b>` + "\u202e" + `"}}],"searched":1}`,
		"/api/plants?from=x":                    `400 {"error":"\"x\" is not an id: must be an integer from -9223372036854775808 to 9223372036854775807"}`,
		"/api/plants?from=1e3":                  `400 {"error":"\"1e3\" is not an id: `,
		"/api/plants?from=99999999999999999999": `400 {"error":"\"99999999999999999999\" is not an id`,
		"/api/plants?name=X":                    `200 {"plants":[{"id":"-3","name":{"text":"x"}}],"searched":2}`,
		"/api/plants?name=x&from=-2":            `200 {"plants":[],"searched":1}`,
		"/api/highest":                          `200 {"id":"7"}`,
		"/api/count":                            `200 {"place":"here","plants":2}`,
	} {
		w := get(t, f.site(t), "127.0.0.1", target, "key")
		if got := fmt.Sprint(w.Code, " ", w.Body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	broken := &fakeStore{err: fmt.Errorf("%w: it has moved", storage.ErrUnavailable)}
	unclosed := &fakeStore{closeErr: errors.New("the disk is broken")}
	slow := &fakeStore{err: context.DeadlineExceeded}
	for _, target := range []string{"/api/plants", "/api/highest", "/api/count"} {
		for want, f := range map[string]*fakeStore{"the store is not available: it has moved": broken, "the disk is broken": unclosed, "reading took longer than ": slow} {
			w := get(t, f.site(t), "127.0.0.1", target, "key")
			if w.Code != http.StatusServiceUnavailable || !strings.HasPrefix(w.Body.String(), `{"error":"`+want) {
				t.Errorf("%s: %d %s", target, w.Code, w.Body)
			}
		}
	}
}
