package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
)

// newOrigin serves an empty page at its own origin.
func newOrigin(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>A page</title>")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A call is a fetch by a page, and what the page can read of the response.
type call struct {
	method, path, token, body string
	want                      string // the start of the status and the body
}

// fetch has the page of the tab make a call. The response is the status, whether
// there is an X-Request-Id, and the body.
func (tb *tab) fetch(server *plantstore.Server, c call) string {
	tb.t.Helper()
	body := "undefined"
	if c.body != "" {
		body = fmt.Sprintf("%q", c.body)
	}
	return evaluate[string](tb, fmt.Sprintf(`fetch(%q, {
		method: %q, body: %s,
		headers: {'Authorization': 'Bearer ' + %q, 'Content-Type': 'application/json'},
	}).then(
		async r => r.status + ' ' + r.headers.has('X-Request-Id') + ' ' + await r.text(),
		e => 'blocked: ' + e.name)`, server.BaseURL+c.path, c.method, body, c.token))
}

// TestPagesOfOtherOrigins checks that a page of an allowed origin can create plants and read
// the Errors of handlers, and that a page of another origin can do neither (C3.19).
func TestPagesOfOtherOrigins(t *testing.T) {
	allowed, foreign := newOrigin(t), newOrigin(t)
	server := plantstore.Start(t, plantstore.Options{Env: []string{"CORS_ORIGINS=https://docs.example.com," + allowed}})
	token := server.Token()
	tb := newTab(t, desktop())

	tb.do(chromedp.Navigate(foreign))
	for _, c := range []call{
		{"POST", "/plants", token, `{"id":1,"name":"a"}`, ""},
		{"GET", "/openapi.json", "", "", ""},
	} {
		if got := tb.fetch(server, c); got != "blocked: TypeError" {
			t.Errorf("a foreign page: %s %s: %s", c.method, c.path, got)
		}
	}
	tb.do(chromedp.Navigate(allowed))
	for _, c := range []call{
		{"POST", "/plants", token, `{"id":1,"name":"a"}`, `200 true {"name":"a"}`}, // the foreign page did not create this id
		{"POST", "/plants", token, `{"id":1,"name":"a"}`, `400 true {"error":409,`},
		{"POST", "/plants", token, `{"id":`, `400 true {"error":400,`},
		{"POST", "/plants", "none", `{"id":1,"name":"a"}`, `400 true {"error":401,`},
		{"POST", "/plant", token, `{"id":1,"name":"a"}`, `400 true {"error":404,`},
		{"DELETE", "/plants", token, ``, `400 true {"error":405,`},
		{"GET", "/openapi.json", token, "", `200 true {`},
	} {
		if got := tb.fetch(server, c); !strings.HasPrefix(got, c.want) {
			t.Errorf("an allowed page: %s %.20s: %.200s, want %s", c.method, c.path, got, c.want)
		}
	}
}
