package operate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"plantstore/internal/must"
	"plantstore/storage"
)

// get requests a target with a key, at a host.
func get(t *testing.T, s *Site, host, target, key string) *httptest.ResponseRecorder {
	t.Helper()
	local := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	r := httptest.NewRequestWithContext(local, http.MethodGet, target, http.NoBody)
	r.Host = host
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, r)
	return w
}

// TestPageGuard checks that plants are sent only with the key and to a loopback name in Host, and
// that no response permits the page more than necessary.
func TestPageGuard(t *testing.T) {
	t.Parallel()
	s := (&fakeStore{ids: []int64{1}}).site()
	for _, tt := range []struct {
		host, target, key string
		code              int // of the Error, or 200
	}{
		{"127.0.0.1:1", "/", "", 200},
		{"localhost:8090", "/", "", 200}, // forwarded by ssh
		{"[::1]:1", "/browse.js", "", 200},
		{"127.0.0.1", "/browse.css", "", 200},
		{"127.0.0.1", "/icon.svg", "", 200},
		{"127.0.0.1", "/page/plants", "key", 200},
		{"127.0.0.1", "/count", "key", 200},
		{"127.0.0.1", "/page/plants", "", 401},
		{"127.0.0.1", "/page/plants?key=key", "", 401},
		{"127.0.0.1", "/page/plants", "ke", 401},
		{"127.0.0.1", "/page/plants", "key ", 401},
		{"127.0.0.1", "/count", "KEY", 401},
		{"127.0.0.1", "/page/creates", "wrong", 401},
		{"evil.example", "/", "", 403},
		{"127.0.0.1.evil.example", "/", "", 403},
		{"evil.example:80", "/page/plants", "key", 403},
		{"127.0.0.1", "/page/index.html", "key", 404},
		{"127.0.0.1", "/plants", "key", 404}, // the socket has it
	} {
		w := get(t, s, tt.host, tt.target, tt.key)
		refused := w.Code == http.StatusBadRequest && strings.HasPrefix(w.Body.String(), fmt.Sprintf(`{"error":%d,`, tt.code))
		if !refused && w.Code != tt.code {
			t.Errorf("%s at %s: %d %s, want %d", tt.target, tt.host, w.Code, w.Body, tt.code)
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
		"/page/plants":                 `200 {"plants":[{"id":"-3","name":{"text":"x"}},{"id":"7","name":{"text":"<b>` + "\u202e" + `"}}],"searched":2}`,
		"/page/plants?descending=true": `200 {"plants":[{"id":"7","name":{"text":"<b>` + "\u202e" + `"}},{"id":"-3","name":{"text":"x"}}],"searched":2}`,
		"/page/plants?from=8":          `200 {"plants":[],"searched":0}`,
		"/page/plants?from=-2":         `200 {"plants":[{"id":"7","name":{"text":"<b>` + "\u202e" + `"}}],"searched":1}`,
		"/page/plants?from=x":          `400 {"error":400,"message":"\"x\" is not an id: must be an integer of 64 bits"}`,
		"/page/plants?from=1e3":        `400 {"error":400,"message":"\"1e3\" is not an id: `,
		"/page/plants?name=X":          `200 {"plants":[{"id":"-3","name":{"text":"x"}}],"searched":2}`,
		"/page/plants?name=x&from=-2":  `200 {"plants":[],"searched":1}`,
		"/count":                       `200 {"place":"here","plants":2}`,
		"/page/requests":               `400 {"error":403,"message":"only a server that was started with --ephemeral keeps requests`,
		"/page/creates":                `400 {"error":403,"message":"only a running server keeps its last creates"}`,
	} {
		w := get(t, f.site(), "127.0.0.1", target, "key")
		if got := fmt.Sprint(w.Code, " ", w.Body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	broken := &fakeStore{err: fmt.Errorf("%w: it has moved", storage.ErrUnavailable)}
	for _, target := range []string{"/page/plants", "/count"} {
		w := get(t, broken.site(), "127.0.0.1", target, "key")
		if w.Code != http.StatusBadRequest || w.Body.String() != `{"error":503,"message":"the store is not available: it has moved"}`+"\n" {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

// TestTimeLimits checks that the message for a request that takes too long names the limit that applied.
func TestTimeLimits(t *testing.T) {
	t.Parallel()
	for target, limit := range map[string]string{"/page/plants": "5s", "/count": "1m0s"} {
		synctest.Test(t, func(t *testing.T) {
			w := get(t, (&fakeStore{hangs: true}).site(), "127.0.0.1", target, "key")
			if want := `{"error":503,"message":"reading took longer than ` + limit + `"}` + "\n"; w.Body.String() != want {
				t.Errorf("%s: %s, want %s", target, w.Body, want)
			}
			opening := &Site{key: "key", open: func(context.Context) (Backend, func() error, error) {
				return nil, nil, errors.New("opening took longer than 1s")
			}}
			if w := get(t, opening, "127.0.0.1", target, "key"); w.Body.String() != `{"error":503,"message":"opening took longer than 1s"}`+"\n" {
				t.Errorf("%s: %s", target, w.Body)
			}
		})
	}
}
