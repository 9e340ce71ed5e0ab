package browser

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
)

const (
	cdn        = "https://cdn.jsdelivr.net/npm/"
	documented = "https://plants.example.com"
)

// A viewer is a viewer of descriptions whose page is in docs/viewers.
type viewer struct {
	fragment string                      // leads to the operation
	logo     string                      // the prefix of a URL from which the viewer loads its own logo
	send     func(tb *tab, token string) // sends the example; nil: the viewer cannot send requests
	further  func(tb *tab)               // what docs/clients.md states
}

func viewers() map[string]viewer {
	return map[string]viewer{
		"swagger-ui": {send: func(tb *tab, token string) {
			tb.click(".btn.authorize")
			tb.fill(".auth-container input", token)
			tb.click(".auth-btn-wrapper .authorize")
			tb.click(".auth-btn-wrapper .btn-done")
			tb.click(".opblock-summary-control")
			tb.awaitTrue(`document.querySelector('textarea.body-param__text')?.value.includes('Monstera')`)
			tb.press("Execute")
		}, further: (*tab).checkRounding},
		"redoc": {logo: "https://cdn.redoc.ly/"},
		"elements": {fragment: "#/operations/createPlant", send: func(tb *tab, token string) {
			tb.fill(`input[aria-label="Token"]`, token)
			tb.press("Send API Request")
		}},
		"scalar": {send: func(tb *tab, token string) {
			tb.fill(`input[placeholder="Token"]`, token)
			tb.showOperation()
			tb.press("Test Request")
			tb.press("Send")
		}},
	}
}

// serveViewer serves the page of a viewer at an origin of its own, and the files of the CDN. The page
// reads the description from the URL in its query.
func serveViewer(t *testing.T, name string) string {
	t.Helper()
	page := string(tools.ProjectFile(t, "docs/viewers/"+name+".html"))
	if !strings.Contains(page, cdn) || !strings.Contains(page, documented) {
		t.Fatalf("the page for %s lacks the URLs that this test replaces", name)
	}
	dir := filepath.Join(tools.Project(t), "e2e", "node", "node_modules", ".viewers")
	if _, err := os.Stat(dir); err != nil {
		tools.NotChecked(t, fmt.Sprintf("the viewers are missing (make tools installs them): %v", err))
	}
	mux := http.NewServeMux()
	mux.Handle("/npm/", http.StripPrefix("/npm/", http.FileServer(http.Dir(dir))))
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/page/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html") // the page itself has its character set
		_, _ = io.WriteString(w, strings.NewReplacer(cdn, "/npm/", documented, r.URL.RawQuery).Replace(page))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// TestViewers opens each page in docs/viewers, with the files of its CDN. It checks
// that the page shows the description without requests to any other server, except for a logo, and that
// its unedited example creates a plant, also in a second view.
func TestViewers(t *testing.T) {
	for name, v := range viewers() {
		t.Run(name, func(t *testing.T) {
			origin := serveViewer(t, name)
			server := plantstore.Start(t, plantstore.Options{Env: []string{"CORS_ORIGINS=" + origin}})
			tb := newTab(t, desktop())
			for n := range 2 {
				tb.do(chromedp.Navigate(fmt.Sprint(origin, "/page/", n, "?", server.BaseURL, v.fragment)))
				tb.await("Create a plant")
				if v.send == nil {
					break
				}
				v.send(tb, server.Token())
				tb.poll(`url => performance.getEntriesByType('resource').some(e => e.name === url && e.responseStatus === 200)`, server.BaseURL+"/plants")
				tb.await("Monstera deliciosa")
			}
			if v.further != nil {
				v.further(tb)
			}
			own := []string{origin + "/", server.BaseURL + "/", "data:", "blob:", cmp.Or(v.logo, origin)}
			for _, requested := range tb.urls {
				if !slices.ContainsFunc(own, func(prefix string) bool { return strings.HasPrefix(requested, prefix) }) {
					t.Errorf("the page requests %s", requested)
				}
			}
			if set := evaluate[string](tb, "document.characterSet"); set != "UTF-8" {
				t.Errorf("the character set is %s", set)
			}
		})
	}
}

// fill makes React and Vue accept a value of the field, as if a user had entered it.
func (tb *tab) fill(field, value string) {
	tb.t.Helper()
	tb.poll(`(field, value) => {
		const e = document.querySelector(field)
		if (!e) return false
		Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), 'value').set.call(e, value)
		e.dispatchEvent(new Event(e.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }))
		return true
	}`, field, value)
}

// checkRounding checks that Swagger UI rounds the ids of examples beyond 2^53, and sends bodies
// unchanged that a user enters.
func (tb *tab) checkRounding() {
	tb.t.Helper()
	const body = "textarea.body-param__text"
	tb.fill("select.examples-select-element", "exactInteger")
	tb.poll(`field => document.querySelector(field)?.value.includes('Welwitschia')`, body)
	tb.press("Execute")
	tb.poll(`() => document.querySelector(".curl-command")?.innerText.includes("Welwitschia")`)
	const entered = `{"id":9007199254740993,"name":"entered"}`
	tb.fill(body, entered)
	tb.press("Execute")
	tb.await(entered)
	tb.mu.Lock()
	defer tb.mu.Unlock()
	sent := tb.bodies[max(0, len(tb.bodies)-2):]
	if len(sent) != 2 || !regexp.MustCompile(`"id": \d+[02468],`).MatchString(sent[0]) || sent[1] != entered {
		tb.t.Errorf("sent %q", sent)
	}
}
