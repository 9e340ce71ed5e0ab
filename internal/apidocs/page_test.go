package apidocs_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"plantstore/internal/apidocs"
	"plantstore/internal/must"
)

// TestPagePolicy checks that only the page's own scripts may run, and it may not request
// anything from other servers. What it shows is checked in browsers.
func TestPagePolicy(t *testing.T) {
	t.Parallel()
	page := apidocs.NewPage()
	response := serve(page, http.MethodGet, nil)
	html := response.Body.String()
	inline := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(html, -1)
	if len(inline) != 1 {
		t.Fatalf("%d inline scripts, want 1", len(inline))
	}
	sum := sha256.Sum256([]byte(inline[0][1]))
	checkHeader(t, response, "Content-Security-Policy", "default-src 'none'; "+
		"script-src 'self' 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; style-src 'unsafe-inline'; "+
		"img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	if want := `src="` + strings.TrimPrefix(page.ScriptPath, "/") + `"`; !strings.Contains(html, want) {
		t.Errorf("the page lacks %s", want)
	}
	for _, hidden := range []string{"src=\"http", "src=\"/", "href=\"http", "href=\"/", "{{"} {
		if strings.Contains(html, hidden) {
			t.Errorf("the page has %s", hidden)
		}
	}
	info := parse(t, describe(t, defaultURL).JSON).Info
	for _, want := range []string{readFile(t, "scalar/LICENSE"), "<title>" + info.Title + "</title>", `content="` + info.Summary + `"`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestScript checks that the script is the pinned one, and is cached for ever. It is compressed for every
// client.
func TestScript(t *testing.T) {
	t.Parallel()
	script := apidocs.NewPage().Script
	response := serve(script, http.MethodGet, http.Header{"Accept-Encoding": {"identity"}})
	checkHeader(t, response, "Content-Encoding", "gzip")
	checkHeader(t, response, "Content-Type", "text/javascript; charset=utf-8")
	checkHeader(t, response, "Cache-Control", "public, max-age=31536000, immutable")
	checkHeader(t, response, "Content-Length", strconv.Itoa(response.Body.Len()))
	again := serve(script, http.MethodGet, http.Header{"If-None-Match": {response.Header().Get("ETag")}})
	if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("again: %d, %d bytes", again.Code, again.Body.Len())
	}
	text := must.Get(io.ReadAll(must.Get(gzip.NewReader(response.Body))(t)))(t)
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]) + "  standalone.js\n"; got != readFile(t, "scalar/SHA256SUMS") {
		t.Errorf("checksum %s", got)
	}
	if !bytes.Contains(text, []byte("@scalar/api-reference "+strings.TrimSpace(readFile(t, "scalar/VERSION")))) {
		t.Error("another version than scalar/VERSION")
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}
