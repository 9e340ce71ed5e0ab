package routes_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/routes"
)

const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// TestDocs checks the page, its script and the descriptions.
func TestDocs(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newStore(t))
	script := regexp.MustCompile(`src="(docs/[^"]+)"`).FindStringSubmatch(get(t, h, http.MethodGet, "/docs", nil).Body.String())
	if script == nil {
		t.Fatal("the page names no script")
	}
	for path, contentType := range map[string]string{
		"/openapi.yaml": "application/yaml", "/openapi.json": "application/json", "/docs": "text/html", "/" + script[1]: "text/javascript",
	} {
		w := get(t, h, http.MethodGet, path, nil)
		if w.Code != http.StatusOK || w.Body.Len() == 0 || !strings.HasPrefix(w.Header().Get("Content-Type"), contentType) {
			t.Errorf("GET %s: %d %v, %d bytes", path, w.Code, w.Header(), w.Body.Len())
		}
		if etag := w.Header().Get("Etag"); etag != "" || strings.HasPrefix(path, "/openapi") {
			w := get(t, h, http.MethodGet, path, http.Header{"If-None-Match": {etag}})
			if w.Code != http.StatusNotModified || w.Body.Len() > 0 {
				t.Errorf("GET %s again: %d, %d bytes", path, w.Code, w.Body.Len())
			}
		}
		if w := get(t, h, http.MethodHead, path, nil); w.Code != http.StatusOK || w.Body.Len() > 0 {
			t.Errorf("HEAD %s: %d, %d bytes", path, w.Code, w.Body.Len())
		}
		w = get(t, h, http.MethodPost, path, nil)
		must.Refuse(t, w, models.CodeMethodNotAllowed, "send GET or HEAD")
		if allow := w.Header().Get("Allow"); allow != "GET, HEAD" {
			t.Errorf("%s: Allow %q", path, allow)
		}
	}
	for _, path := range []string{"/docs/", "/docs/scalar.js", "/Docs", "/docs/index.html"} {
		must.Refuse(t, get(t, h, http.MethodGet, path, nil), models.CodeNotFound, "")
	}
}

// TestRoot checks that the root redirects browsers to the page, and is an unknown path for
// other clients.
func TestRoot(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newStore(t))
	browser := http.Header{"Accept": {browserAccept}}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		w := get(t, h, method, "/", browser)
		if w.Code != http.StatusFound || w.Header().Get("Location") != "docs" || w.Header().Get("Vary") != "Accept" ||
			w.Header().Get("Cache-Control") != "no-cache" || w.Body.Len() > 0 {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
	for name, tt := range map[string]struct {
		method, target, accept string
	}{
		"no Accept":    {"GET", "/", ""},
		"anything":     {"GET", "/", "*/*"},
		"POST":         {"POST", "/", browserAccept},
		"another path": {"GET", "/nowhere", browserAccept},
	} {
		w := get(t, h, tt.method, tt.target, http.Header{"Accept": {tt.accept}})
		want := "create a plant with POST /plants"
		if tt.target == "/" {
			want += "; /docs describes and tries the service"
		}
		must.Refuse(t, w, models.CodeNotFound, want)
		if w.Header().Get("Location") != "" {
			t.Errorf("%s: leads to %q", name, w.Header().Get("Location"))
		}
	}
}

func TestDocsOff(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newStore(t), func(o *routes.Options) { o.NoPage = true })
	for _, path := range []string{"/", "/docs", "/docs/"} {
		must.Refuse(t, get(t, h, http.MethodGet, path, http.Header{"Accept": {browserAccept}}), models.CodeNotFound, "POST /plants")
	}
	if w := get(t, h, http.MethodGet, "/openapi.yaml", nil); w.Code != http.StatusOK {
		t.Errorf("/openapi.yaml: %d", w.Code)
	}
}
