package apidocs_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
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
	"plantstore/models"
)

// TestPagePolicy checks that only the page's own scripts may run, and it may not request
// anything from other servers.
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
	if !strings.Contains(html, readFile(t, "scalar/LICENSE")) {
		t.Error("the page lacks the licence of its script")
	}
}

// TestPageDescription checks that all text of the page comes from the description, and no
// integer loses a digit when a script reads it.
func TestPageDescription(t *testing.T) {
	t.Parallel()
	html := serve(apidocs.NewPage(), http.MethodGet, nil).Body.String()
	_, rest, _ := strings.Cut(html, `<script type="application/json" id="description">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var d struct {
		Info  struct{ Title, Summary, Description string }
		Tags  []struct{ Name, Description string }
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct {
					Examples map[string]struct{ Value any }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v in %.100s", err, text)
	}
	if !strings.Contains(html, "<title>"+d.Info.Title+"</title>") || d.Info.Title == "" {
		t.Errorf("the title is not %q", d.Info.Title)
	}
	if !strings.Contains(html, `content="`+d.Info.Summary+`"`) || d.Info.Summary == "" {
		t.Errorf("the summary is not %q", d.Info.Summary)
	}
	last := d.Tags[len(d.Tags)-1]
	if last.Name != "Errors" || strings.Contains(d.Info.Description, "Errors") {
		t.Errorf("the errors are not after the operation, but in the introduction: %q", d.Info.Description)
	}
	for _, row := range models.Codes() {
		if !strings.Contains(last.Description, "| "+strconv.Itoa(int(row.Code))+" | "+row.Meaning) {
			t.Errorf("the page lacks error %d", row.Code)
		}
	}
	examples := d.Paths["/plants"]["post"].RequestBody.Content["application/json"].Examples
	if want := "{\n  \"id\": 9223372036854775807,\n  \"name\": \"Sequoiadendron giganteum\",\n  \"tag\": \"tree\"\n}"; examples["greatestId"].Value != want {
		t.Errorf("the example is %q, want %q", examples["greatestId"].Value, want)
	}
	for tokens := json.NewDecoder(strings.NewReader(text)); ; {
		tokens.UseNumber()
		token, err := tokens.Token()
		if err != nil {
			break
		}
		if number, ok := token.(json.Number); ok && len(number) > 15 {
			t.Errorf("a script would round %s", number)
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
		"":                              false,
		"gzip":                          true,
		"br, GZIP ;q=0.5":               true,
		"br,gzip;q=0":                   false,
		"gzip;q=0.000":                  false,
		"gzip;Q=1":                      true,
		"gzip;q=x":                      false,
		"gzip;level=1;q=1.0":            true,
		"gzipped":                       false,
		"*":                             false,
		"identity, deflate":             false,
		"text/html,application/xml;q=1": false,
	} {
		if got := apidocs.Accepts([]string{value}, "gzip"); got != want {
			t.Errorf("%q: %t, want %t", value, got, want)
		}
	}
	if !apidocs.Accepts([]string{"br", "gzip"}, "gzip") {
		t.Error("a second line is not looked at")
	}
}
