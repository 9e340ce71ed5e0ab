package apidocs

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// scalarScript is the script that draws the page, as make update-docs-ui has
// fetched and compressed it.
//
//go:embed scalar/standalone.js.gz
var scalarScript []byte

// A Script is a script that is kept compressed, and served so to all who can
// take it.
type Script struct {
	version    string // changes with the contents
	compressed *Document
	plain      func() *Document
}

func newScript() *Script {
	s := &Script{
		compressed: newScriptDocument(scalarScript),
		plain:      sync.OnceValue(func() *Document { return newScriptDocument(unzipped(scalarScript)) }),
	}
	s.version = strings.Trim(s.compressed.etag, `"`)[:12]
	return s
}

func newScriptDocument(body []byte) *Document {
	d := newDocument("text/javascript; charset=utf-8", body)
	d.cacheControl = "public, max-age=31536000, immutable" // another script has another path
	return d
}

// ServeHTTP answers GET and HEAD with the script, as [Document.ServeHTTP] does.
func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept-Encoding")
	if !Accepts(r.Header.Values("Accept-Encoding"), "gzip") {
		s.plain().ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	s.compressed.ServeHTTP(w, r)
}

// unzipped returns what was compressed, which is known to be whole by a test.
func unzipped(compressed []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil
	}
	plain, _ := io.ReadAll(reader)
	return plain
}

// Accepts reports whether the values of an Accept or Accept-Encoding header name
// wanted, with a weight that is not 0 (RFC 9110, section 12.4.2).
func Accepts(values []string, wanted string) bool {
	for item := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), wanted) {
			continue
		}
		weight := 1.0
		for parameter := range strings.SplitSeq(parameters, ";") {
			if q, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameter)), "q="); ok {
				weight, _ = strconv.ParseFloat(q, 64) // 0 if it makes no sense
			}
		}
		return weight > 0
	}
	return false
}
