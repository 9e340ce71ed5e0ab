package apidocs

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strings"
)

var (
	//go:embed page.html
	pageSource string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageStart string
	//go:embed page.json
	pageDescription string // openapi.json for scripts, which read numbers as float64: large integers are strings
	//go:embed scalar/LICENSE
	scalarLicence string
	//go:embed scalar/standalone.js.gz
	scalarScript []byte // gzipped, fetched by make update-docs-ui
)

// pageIcon is a leaf, as a data URL. Its green has contrast on light and dark backgrounds.
const pageIcon = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cpath fill='%2316a34a' " +
	"d='M27 4C13 4 5 10 5 19c0 3 1 5 2 6 3-7 8-11 13-13-5 3-9 8-11 16h3c1-3 2-4 2-4 9 1 14-7 13-20z'/%3E%3C/svg%3E"

// A Page is the interactive API reference. It loads nothing from other servers.
type Page struct {
	*Document

	// Script renders the page. It is served at ScriptPath, compressed for every client: all browsers accept
	// that, and 100 bytes of a request must not cost 4 MB.
	Script *Document
	// ScriptPath is the path of Script, which depends on its contents. The page
	// at /docs refers to it relatively, so that a proxy may remove a prefix.
	ScriptPath string
}

// PagePath is the path of the page.
const PagePath = "/docs"

// TokenLink returns a link to the page of the server at baseURL that fills in a token. The
// token is in the fragment, which is not part of any request, and page.js removes it from
// the address bar.
func TokenLink(baseURL, token string) string { return baseURL + PagePath + "#token=" + token }

// NewPage returns the page of the embedded description.
func NewPage() *Page {
	script := newDocument("text/javascript; charset=utf-8", scalarScript)
	script.header.Set("Content-Encoding", "gzip")
	script.header.Set("Cache-Control", "public, max-age=31536000, immutable") // the path depends on the contents
	scriptPath := PagePath + "/scalar-" + script.header.Get("ETag")[1:13] + ".js"
	html := newDocument("text/html; charset=utf-8", []byte(strings.NewReplacer(
		"{{licence}}", scalarLicence,
		"{{style}}", strings.ReplaceAll(pageStyle, "{{icon}}", pageIcon),
		"{{icon}}", pageIcon,
		"{{description}}", pageDescription,
		"{{script}}", scriptPath[1:],
		"{{start}}", pageStart,
	).Replace(pageSource)))
	sum := sha256.Sum256([]byte(pageStart))
	html.header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self' 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; "+
		"style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	html.header.Set("Referrer-Policy", "no-referrer")
	return &Page{Document: html, Script: script, ScriptPath: scriptPath}
}
