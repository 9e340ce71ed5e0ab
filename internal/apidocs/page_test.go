package apidocs_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
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

// TestScript checks that the script is the pinned one, compressed or not, and is cached for ever.
func TestScript(t *testing.T) {
	t.Parallel()
	script := apidocs.NewPage().Script
	plain := serve(script, http.MethodGet, nil)
	coded := serve(script, http.MethodGet, http.Header{"Accept-Encoding": {"br, gzip"}})
	for coding, response := range map[string]*httptest.ResponseRecorder{"": plain, "gzip": coded} {
		checkHeader(t, response, "Content-Encoding", coding)
		checkHeader(t, response, "Content-Type", "text/javascript; charset=utf-8")
		checkHeader(t, response, "Cache-Control", "public, max-age=31536000, immutable")
		checkHeader(t, response, "Vary", "Accept-Encoding")
		checkHeader(t, response, "Content-Length", strconv.Itoa(response.Body.Len()))
		again := serve(script, http.MethodGet, http.Header{"Accept-Encoding": {coding}, "If-None-Match": {response.Header().Get("ETag")}})
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%q again: %d, %d bytes", coding, again.Code, again.Body.Len())
		}
	}
	if plain.Header().Get("ETag") == coded.Header().Get("ETag") {
		t.Error("both codings have the same ETag")
	}
	unzipped := must.Get(gzip.NewReader(coded.Body))(t)
	for coding, in := range map[string]io.Reader{"": plain.Body, "gzip": unzipped} {
		text, err := io.ReadAll(in)
		sum := sha256.Sum256(text)
		if got := hex.EncodeToString(sum[:]) + "  standalone.js\n"; got != readFile(t, "scalar/SHA256SUMS") || err != nil {
			t.Errorf("%q: checksum %s, %v", coding, got, err)
		}
		if !bytes.Contains(text, []byte("@scalar/api-reference "+strings.TrimSpace(readFile(t, "scalar/VERSION")))) {
			t.Errorf("%q: another version than scalar/VERSION", coding)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"":                  false,
		"gzip":              true,
		"br, GZIP ;q=0.5":   true,
		"gzip;q=0.000":      false,
		"gzip;Q=1":          true,
		"gzip;q=x":          false,
		"gzipped":           false,
		"*":                 false,
		"identity, deflate": false,
	} {
		if got := apidocs.Accepts([]string{value}, "gzip"); got != want {
			t.Errorf("%q: %t, want %t", value, got, want)
		}
	}
	if !apidocs.Accepts([]string{"br", "gzip"}, "gzip") {
		t.Error("a second line is not looked at")
	}
}
