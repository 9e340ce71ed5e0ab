package apidocs

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"
)

var (
	//go:embed page.html
	pageSource string
	//go:embed page.js
	pageStart string
	//go:embed page.json
	pageDescription string // for scripts, which read numbers as float64
	//go:embed scalar/LICENSE
	scalarLicence string
)

// A Page is the interactive API reference. It loads nothing from other servers.
type Page struct {
	html   *Document
	policy string
	// Script renders the page. It is served at ScriptPath.
	Script *Script
	// ScriptPath is the path of Script, which depends on its contents. The page
	// at /docs refers to it relatively, so that a proxy may remove a prefix.
	ScriptPath string
}

// NewPage returns the page of the embedded description.
func NewPage() *Page {
	script := newScript()
	p := &Page{
		Script:     script,
		ScriptPath: "/docs/scalar-" + script.version + ".js",
		policy: "default-src 'none'; script-src 'self' '" + hashSource(pageStart) + "'; style-src 'unsafe-inline'; " +
			"img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}
	p.html = newDocument("text/html; charset=utf-8", []byte(strings.NewReplacer(
		"{{licence}}", scalarLicence,
		"{{description}}", pageDescription,
		"{{script}}", p.ScriptPath[1:],
		"{{start}}", pageStart,
	).Replace(pageSource)))
	return p
}

// hashSource returns the hash of an inline script for a Content-Security-Policy.
func hashSource(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// ServeHTTP responds to GET and HEAD with the page, as [Document.ServeHTTP] does.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", p.policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	p.html.ServeHTTP(w, r)
}
