package routes_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/routes"
)

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
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, tt.path, strings.NewReader(`{"id":1,"name":"x"}`))
		r.Header = http.Header{"Authorization": {"Bearer " + tt.token}, "Content-Type": {tt.mediaType}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), tt.want) || !slices.Equal(tt.counted, l.clients) {
			t.Errorf("%s: got %s, and the limiter was called with %q; want %s, %q", name, w.Body, l.clients, tt.want, tt.counted)
		}
	}
}
