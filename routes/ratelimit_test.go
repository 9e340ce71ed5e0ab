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

// TestOrderOfRateLimit checks that the rate limit comes between the credential and the media
// type (C2.8), that it counts requests that fail later, and that a page of an allowed origin
// can read when to send the request again.
func TestOrderOfRateLimit(t *testing.T) {
	t.Parallel()
	const subject, origin = "tester", "https://docs.test"
	tests := map[string]struct {
		method, path, token, mediaType string
		refuses                        string
		want                           string // part of the response
		counted                        []string
	}{
		"within the limit":          {"POST", "/plants", "good", "application/json", "", `"name":"x"`, []string{subject}},
		"the token before":          {"POST", "/plants", "bad", "application/json", subject, `"error":401`, nil},
		"the limit before the type": {"POST", "/plants", "good", "text/plain", subject, `"error":429`, []string{subject}},
		"the type after the limit":  {"POST", "/plants", "good", "text/plain", "", `"error":415`, []string{subject}},
		"only creates are limited":  {"GET", "/openapi.json", "good", "", subject, `"openapi"`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limiter := &noting{refuses: tt.refuses}
			h := newHandler(t, newStore(t), func(o *routes.Options) { o.RateLimit, o.Origins = limiter, middleware.Origins{origin} })
			r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, strings.NewReader(`{"id":1,"name":"x"}`))
			r.Header = http.Header{"Authorization": {"Bearer " + tt.token}, "Content-Type": {tt.mediaType}, "Origin": {origin}}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("got %d %s, want %s", w.Code, w.Body, tt.want)
			}
			if diff := cmp.Diff(tt.counted, limiter.clients); diff != "" {
				t.Errorf("the limiter was called with (-want +got):\n%s", diff)
			}
			if exposed := w.Header().Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Retry-After") ||
				!slices.Contains(w.Header().Values("Access-Control-Allow-Origin"), origin) {
				t.Errorf("a page cannot read Retry-After: %q", w.Header())
			}
		})
	}
}
