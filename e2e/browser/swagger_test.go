package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
)

// newSwaggerUI serves a page with Swagger UI at its own origin. The page reads the description
// from the URL in its query.
func newSwaggerUI(t *testing.T) string {
	t.Helper()
	dist := filepath.Join(tools.Project(t), "e2e", "node", "node_modules", "swagger-ui-dist")
	if _, err := os.Stat(dist); err != nil {
		tools.NotChecked(t, fmt.Sprintf("Swagger UI is missing (make tools installs it): %v", err))
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dist)))
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><div id="ui"></div><script src="swagger-ui-bundle.js"></script><script>
			const ui = SwaggerUIBundle({
				url: location.search.slice(1), dom_id: '#ui', docExpansion: 'full', tryItOutEnabled: true,
			})
		</script>`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// fill makes React accept a value of the field, as if a user had entered it.
func (tb *tab) fill(field, value string) {
	tb.t.Helper()
	tb.do(ignoring(chromedp.PollFunction[bool](`(field, value) => {
		const e = document.querySelector(field)
		if (!e) return false
		Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), 'value').set.call(e, value)
		e.dispatchEvent(new Event(e.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }))
		return true
	}`, chromedp.WithPollingArgs(field, value), chromedp.WithPollingTimeout(patience))))
}

// TestSwaggerUIRoundsExamples checks that Swagger UI rounds the ids of examples beyond 2^53, and
// sends bodies unchanged that a user enters, as docs/clients.md states.
func TestSwaggerUIRoundsExamples(t *testing.T) {
	ui := newSwaggerUI(t)
	server := plantstore.Start(t, plantstore.Options{Env: []string{"CORS_ORIGINS=" + ui}})
	tb := newTab(t, desktop())
	tb.do(chromedp.Navigate(ui + "/page?" + server.BaseURL + "/openapi.json"))
	const body = "textarea.body-param__text"
	tb.fill("select.examples-select-element", "exactInteger")
	tb.do(ignoring(chromedp.PollFunction[bool](`field => document.querySelector(field)?.value.includes('Welwitschia')`,
		chromedp.WithPollingArgs(body), chromedp.WithPollingTimeout(patience))))
	tb.press("Execute")
	tb.await("Response body")
	const entered = `{"id":9007199254740993,"name":"entered"}`
	tb.fill(body, entered)
	tb.press("Execute")
	tb.await(entered) // in the curl command that the page shows
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if len(tb.bodies) != 2 || !strings.Contains(tb.bodies[0], `"id": 9007199254740992,`) || tb.bodies[1] != entered {
		t.Errorf("sent %q", tb.bodies)
	}
}
