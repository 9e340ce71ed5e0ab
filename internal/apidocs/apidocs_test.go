package apidocs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/apidocs"
	"plantstore/internal/must"
)

const defaultURL = "http://127.0.0.1:8080"

func describe(t *testing.T, baseURL string) *apidocs.Description {
	t.Helper()
	d, err := apidocs.New(baseURL)
	if err != nil {
		t.Fatalf("New(%q): %v", baseURL, err)
	}
	return d
}

// TestOnlyTheServerURLChanges checks that the description is served as it was written, with its
// comments, except the URL of the server.
func TestOnlyTheServerURLChanges(t *testing.T) {
	t.Parallel()
	written := must.Get(os.ReadFile("openapi.yaml"))(t)
	want := strings.Split(string(written), "\n")
	got := strings.Split(string(describe(t, "https://plants.test/api").YAML.Bytes()), "\n")
	for i, line := range want {
		if line == `  - url: "`+defaultURL+`"` {
			want[i] = `  - url: "https://plants.test/api"`
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestServerURL(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ base, want string }{
		"plain":                   {"https://plants.test", "https://plants.test"},
		"slash at the end":        {"https://plants.test/", "https://plants.test"},
		"IPv6":                    {"http://[::1]:8080", "http://[::1]:8080"},
		"line break":              {"http://h/\nopenapi: 2.0", "http://h/\nopenapi: 2.0"},
		"beyond ASCII":            {"http://bücher.test/桜🌸\u2028", "http://bücher.test/桜🌸\u2028"},
		"braces name no variable": {"http://h/{x}", "http://h/%7Bx%7D"},
	}
	for name, tt := range tests {
		d := describe(t, tt.base)
		for _, document := range []*apidocs.Document{d.YAML, d.JSON} {
			if got := parse(t, document).Servers; !slices.Equal(got, []server{{URL: tt.want}}) {
				t.Errorf("%s: the servers are %v, want %s", name, got, tt.want)
			}
		}
	}
	if _, err := apidocs.New("http://h/\xff"); err == nil {
		t.Error("New accepts a URL that is not UTF-8")
	}
}

// TestServe checks the header fields and conditional requests of a document.
func TestServe(t *testing.T) {
	t.Parallel()
	d := describe(t, defaultURL)
	etag := serve(d.YAML, http.MethodGet, nil).Header().Get("ETag")
	tags := map[string]bool{}
	for mediaType, document := range map[string]*apidocs.Document{"application/yaml": d.YAML, "application/json": d.JSON, "text/html; charset=utf-8": apidocs.NewPage().Document} {
		whole := string(document.Bytes())
		for method, want := range map[string]string{http.MethodGet: whole, http.MethodHead: ""} {
			response := serve(document, method, nil)
			checkHeader(t, response, "Content-Length", strconv.Itoa(len(whole)))
			checkHeader(t, response, "Content-Type", mediaType)
			checkHeader(t, response, "Cache-Control", "no-cache")
			checkHeader(t, response, "Accept-Ranges", "")
			if response.Code != http.StatusOK || response.Body.String() != want {
				t.Errorf("%s %s: status %d, %d bytes; want 200, %d bytes", method, mediaType, response.Code, response.Body.Len(), len(want))
			}
			tags[response.Header().Get("ETag")] = true
		}
	}
	tags[serve(describe(t, "https://plants.test").YAML, http.MethodGet, nil).Header().Get("ETag")] = true
	if len(tags) != 4 || !strings.HasPrefix(etag, `"`) {
		t.Errorf("four documents have the ETags %v", tags)
	}
	for name, tt := range map[string]struct {
		header http.Header
		want   int
	}{
		"same tag, weak":         {http.Header{"If-None-Match": {"W/" + etag}}, 304},
		"in a list":              {http.Header{"If-None-Match": {`"a", ` + etag + `, "b"`}}, 304},
		"in a second line":       {http.Header{"If-None-Match": {`"a"`, etag}}, 304},
		"any":                    {http.Header{"If-None-Match": {"*"}}, 304},
		"other tag":              {http.Header{"If-None-Match": {`"a"`}}, 200},
		"part of it":             {http.Header{"Range": {"bytes=0-9"}}, 200},
		"a part that it has not": {http.Header{"Range": {"bytes=9999999-"}}, 200},
		"another that must be":   {http.Header{"If-Match": {`"a"`}}, 200},
	} {
		response := serve(d.YAML, http.MethodGet, tt.header)
		checkHeader(t, response, "ETag", etag)
		if response.Code != tt.want || (response.Body.Len() == len(d.YAML.Bytes())) != (tt.want == http.StatusOK) {
			t.Errorf("%s: status %d, %d bytes; want %d", name, response.Code, response.Body.Len(), tt.want)
		}
	}
}

// TestExampleIDs checks that pages of other origins get new ids in the examples with each request, where
// a double-precision number can hold them if it can hold the original. All else is the same.
func TestExampleIDs(t *testing.T) {
	t.Parallel()
	d := describe(t, defaultURL)
	id := regexp.MustCompile(`(?m)^ +"?id"?: (\d{10}|\d{16,17}),?$`)
	for _, document := range []*apidocs.Document{d.YAML, d.JSON} {
		ids := map[string]bool{}
		for range 2 {
			response := serve(document, http.MethodGet, http.Header{"Origin": {"https://docs.test"}}).Body.String()
			fixed := []string{"1", "2", "3", "9007199254740993", "4"}
			restored := id.ReplaceAllStringFunc(response, func(line string) string {
				drawn := id.FindStringSubmatch(line)[1]
				if n, _ := strconv.ParseInt(drawn, 10, 64); ids[drawn] || n > 1<<53 && int64(float64(n)) == n {
					t.Errorf("the id %s was drawn", drawn)
				}
				ids[drawn] = true
				line = strings.Replace(line, drawn, fixed[0], 1)
				fixed = fixed[1:]
				return line
			})
			if diff := cmp.Diff(string(document.Bytes()), restored); diff != "" {
				t.Errorf("(-without +with Origin):\n%s", diff)
			}
		}
		if len(ids) != 10 {
			t.Errorf("%d ids were drawn in two descriptions, want 10", len(ids))
		}
	}
}

func serve(document http.Handler, method string, header http.Header) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(context.Background(), method, "/", nil)
	request.Header = header
	response := httptest.NewRecorder()
	document.ServeHTTP(response, request)
	return response
}

func checkHeader(t *testing.T, response *httptest.ResponseRecorder, name, want string) {
	t.Helper()
	if got := response.Header().Get(name); got != want {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
}

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
