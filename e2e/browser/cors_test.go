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

// TestPagesOfOtherOrigins checks that a page of an allowed origin can create plants and read
// the Errors of handlers, and that a page of another origin can do neither (C3.19).
func TestPagesOfOtherOrigins(t *testing.T) {
	newOrigin := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<!doctype html><title>A page</title>")
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	allowed, foreign := newOrigin(), newOrigin()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"CORS_ORIGINS=https://docs.example.com," + allowed}})
	token, tb := server.Token(), newTab(t, desktop())
	for _, c := range []struct{ origin, method, path, token, body, want string }{
		{foreign, "POST", "/plants", token, `{"id":1,"name":"a"}`, "blocked: TypeError"},
		{foreign, "GET", "/openapi.json", "", "", "blocked: TypeError"},
		{allowed, "POST", "/plants", token, `{"id":1,"name":"a"}`, `200 true {"name":"a"}`}, // the foreign page did not create this id
		{allowed, "POST", "/plants", token, `{"id":1,"name":"a"}`, `400 true {"error":409,`},
		{allowed, "POST", "/plants", token, `{"id":`, `400 true {"error":400,`},
		{allowed, "POST", "/plants", "none", `{"id":1,"name":"a"}`, `400 true {"error":401,`},
		{allowed, "POST", "/plant", token, `{"id":1,"name":"a"}`, `400 true {"error":404,`},
		{allowed, "DELETE", "/plants", token, ``, `400 true {"error":405,`},
		{allowed, "GET", "/openapi.json", token, "", `200 true {`},
	} {
		tb.do(chromedp.Navigate(c.origin))
		got := evaluate[string](tb, fmt.Sprintf(`fetch(%q, {
			method: %q, body: %q || undefined,
			headers: {'Authorization': 'Bearer ' + %q, 'Content-Type': 'application/json'},
		}).then(
			async r => r.status + ' ' + r.headers.has('X-Request-Id') + ' ' + await r.text(),
			e => 'blocked: ' + e.name)`, server.BaseURL+c.path, c.method, c.body, c.token))
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("allowed: %t, %s %s: %.200s, want %s", c.origin == allowed, c.method, c.path, got, c.want)
		}
	}
}
