package routes_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/models"
	"plantstore/routes"
)

// A limiter records its clients. It makes the client in refuses wait.
type limiter struct {
	refuses string
	wait    time.Duration
	clients []string
}

func (l *limiter) Take(client string) time.Duration {
	l.clients = append(l.clients, client)
	if client == l.refuses {
		return l.wait
	}
	return 0
}

func (*limiter) Rate() string { return "100/s" }

// TestRateLimit checks that a refusal names the time to wait in whole seconds, rounded up.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{1: "1", time.Second: "1", time.Second + 1: "2", time.Hour: "3600"} {
		h := newHandler(t, newStore(t), func(o *routes.Options) { o.RateLimit = &limiter{refuses: "tester", wait: wait} })
		w := do(t, h, http.MethodPost, "/plants", "")
		checkError(t, w, models.CodeTooManyRequests,
			"the rate limit of 100/s for the subject (sub) of this access token is exceeded; send the request again in "+want+" s")
		if got := w.Header().Get("Retry-After"); got != want {
			t.Errorf("%v: Retry-After %q, want %q", wait, got, want)
		}
	}
}

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
		l := &limiter{refuses: tt.refuses, wait: 1}
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
