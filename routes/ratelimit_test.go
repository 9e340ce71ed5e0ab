package routes_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/middleware"
	"plantstore/routes"
)

// A noting limiter records its clients. It refuses the client in refuses.
type noting struct {
	refuses string
	clients []string
}

func (n *noting) Take(client string) time.Duration {
	n.clients = append(n.clients, client)
	if client == n.refuses {
		return time.Second
	}
	return 0
}

func (*noting) Rate() string { return "1/s" }

// TestOrderOfRateLimits checks that the limit of the address precedes all other checks, and the
// limit of the subject comes between the credential and the media type (C2.8). Both count
// requests that fail later.
func TestOrderOfRateLimits(t *testing.T) {
	t.Parallel()
	const remote, subject = "192.0.2.1:1234", "tester"
	tests := map[string]struct {
		method, path, token, mediaType string
		refuses                        string
		want                           string // part of the response
		counted                        []string
	}{
		"neither":                      {"POST", "/plants", "good", "application/json", "", `"name":"x"`, []string{remote, subject}},
		"address before the route":     {"POST", "/nowhere", "good", "application/json", remote, `"error":429`, []string{remote}},
		"address before the method":    {"PUT", "/plants", "good", "application/json", remote, `"error":429`, []string{remote}},
		"address before the token":     {"POST", "/plants", "bad", "application/json", remote, `"error":429`, []string{remote}},
		"address before the page":      {"GET", "/docs", "", "", remote, `"error":429`, []string{remote}},
		"token before the subject":     {"POST", "/plants", "bad", "application/json", "", `"error":401`, []string{remote}},
		"subject before the type":      {"POST", "/plants", "good", "text/plain", subject, `"error":429`, []string{remote, subject}},
		"the type after the subject":   {"POST", "/plants", "good", "text/plain", "", `"error":415`, []string{remote, subject}},
		"only creates have a subject":  {"GET", "/openapi.json", "good", "", subject, `"openapi"`, []string{remote}},
		"a preflight is not a request": {"OPTIONS", "/plants", "", "", remote, "", nil},
		"OPTIONS without CORS is one":  {"OPTIONS", "/nowhere", "", "", remote, `"error":429`, []string{remote}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limiter := &noting{refuses: tt.refuses}
			h := newHandler(t, newStore(t), func(o *routes.Options) {
				o.AddressLimit, o.SubjectLimit = limiter, limiter
				o.Origins = middleware.Origins{"https://docs.test"}
			})
			r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, strings.NewReader(`{"id":1,"name":"x"}`))
			r.RemoteAddr = remote
			r.Header = http.Header{"Authorization": {"Bearer " + tt.token}, "Content-Type": {tt.mediaType}, "Origin": {"https://docs.test"}}
			if tt.counted == nil {
				r.Header.Set("Access-Control-Request-Method", "POST")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if !strings.Contains(w.Body.String(), tt.want) || (tt.want == "") != (w.Code == http.StatusNoContent) {
				t.Errorf("got %d %s, want %s", w.Code, w.Body, tt.want)
			}
			if diff := cmp.Diff(tt.counted, limiter.clients); diff != "" {
				t.Errorf("the limiter was called with (-want +got):\n%s", diff)
			}
			// A page of an allowed origin can read the refusal, and when to come back.
			if exposed := w.Header().Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Retry-After") ||
				!slices.Contains(w.Header().Values("Access-Control-Allow-Origin"), "https://docs.test") {
				t.Errorf("a page cannot read Retry-After: %q", w.Header())
			}
		})
	}
}
