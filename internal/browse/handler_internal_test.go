package browse

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
		{"127.0.0.1", "/api/status", "key", http.StatusOK},
		{"127.0.0.1", "/api/search?name=x", "key", http.StatusOK},
		{"127.0.0.1", "/api/plants", "", http.StatusUnauthorized},
		{"127.0.0.1", "/api/plants?key=key", "", http.StatusUnauthorized},
		{"127.0.0.1", "/api/plants", "ke", http.StatusUnauthorized},
		{"127.0.0.1", "/api/plants", "key ", http.StatusUnauthorized},
		{"127.0.0.1", "/api/status", "KEY", http.StatusUnauthorized},
		{"127.0.0.1", "/api/search?name=x", "wrong", http.StatusUnauthorized},
		{"evil.example", "/", "", http.StatusMisdirectedRequest},
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
	page, err := pageFiles.ReadFile("page/index.html")
	if err != nil {
		t.Fatal(err)
	}
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
		"/api/plants":                           `200 {"plants":[{"id":"-3","name":{"text":"x"}},{"id":"7","name":{"text":"<b>` + "\u202e" + `"}}],"before":false,"after":false}`,
		"/api/plants?from=8":                    `200 {"plants":[],"before":true,"after":false}`,
		"/api/plants?through=+-4":               `200 {"plants":[],"before":false,"after":true}`,
		"/api/plants?through=0":                 `200 {"plants":[{"id":"-3","name":{"text":"x"}}],"before":false,"after":true}`,
		"/api/plants?from=x":                    `400 {"error":"\"x\" is not an id: must be an integer from -9223372036854775808 to 9223372036854775807"}`,
		"/api/plants?through=1e3":               `400 {"error":"\"1e3\" is not an id: `,
		"/api/plants?from=99999999999999999999": `400 {"error":"\"99999999999999999999\" is not an id`,
		"/api/search":                           `400 {"error":"name: must not be empty"}`,
		"/api/search?name=X":                    `200 {"plants":[{"id":"-3","name":{"text":"x"}}],"searched":2}`,
		"/api/search?name=x&from=-2":            `200 {"plants":[],"searched":1}`,
		"/api/search?name=x&from=y":             `400 {"error":"\"y\" is not an id`,
		"/api/status":                           `200 {"place":"here","source":"file","samples":[{"age":`,
	} {
		w := get(t, f.site(t), "127.0.0.1", target, "key")
		if got := fmt.Sprint(w.Code, " ", w.Body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	f.err = fmt.Errorf("%w: it has moved", storage.ErrUnavailable)
	for _, target := range []string{"/api/plants", "/api/plants?through=1", "/api/search?name=x"} {
		w := get(t, f.site(t), "127.0.0.1", target, "key")
		if want := `{"error":"the store is not available: it has moved"}`; w.Code != http.StatusServiceUnavailable || w.Body.String() != want {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	w := get(t, f.site(t), "127.0.0.1", "/api/status", "key")
	if want := `{"place":"here","samples":[],"error":"the store is not available: it has moved"}`; w.Body.String() != want {
		t.Errorf("status: %s", w.Body)
	}
}

// TestSearchInParts checks that a search continues where the previous part has ended, and skips
// unreadable records.
func TestSearchInParts(t *testing.T) {
	t.Parallel()
	f := &fakeStore{ids: sequence(1, 1000), names: make(map[int64]string), sizes: map[int64]int{500: -1}}
	for _, id := range f.ids {
		f.names[id] = []string{"Aloe", "aLOEs", "al", "Käfer", ""}[id%5]
	}
	s := f.site(t)
	var found []string
	parts, searched, corrupt := 0, int64(0), ""
	for from := int64(-9); ; parts++ {
		p, err := s.search(t.Context(), "ALOE", from)
		if err != nil || len(p.Plants) > pageWeight || parts > 50 {
			t.Fatalf("part %d: %d plants, %v", parts, len(p.Plants), err)
		}
		found, searched = append(found, idsOf(p.Plants)...), searched+p.Searched
		if p.Corrupt != nil {
			corrupt += p.Corrupt.ID
		}
		if p.Next == "" {
			break
		}
		if _, err := fmt.Sscan(p.Next, &from); err != nil {
			t.Fatal(err)
		}
	}
	if len(found) != 399 || searched != 999 || corrupt != "500" || parts < 7 {
		t.Errorf("%d found of %d in %d parts, %q is corrupt", len(found), searched, parts, corrupt)
	}
}

func TestHasPrefix(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, prefix string
		want         bool
	}{
		{"Monstera", "mon", true},
		{"Monstera", "Monstera", true},
		{"Monstera", "Monsteras", false},
		{"Monstera", "onstera", false},
		{"KÄFER", "käf", true},
		{"\u212aelvin", "kel", true}, // three bytes fold to one
		{"", "a", false},
		{"\xff", "\xff", true},
	} {
		if got := hasPrefix(tt.name, tt.prefix); got != tt.want {
			t.Errorf("hasPrefix(%q, %q) = %v", tt.name, tt.prefix, got)
		}
	}
}

// TestCloseFails checks that an error of closing the store is reported.
func TestCloseFails(t *testing.T) {
	t.Parallel()
	s := (&fakeStore{}).site(t)
	broken := errors.New("disk is broken")
	s.options.Open = failingClose(broken)
	if _, err := s.from(t.Context(), 0); !errors.Is(err, broken) {
		t.Errorf("from: %v", err)
	}
}
