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

// scalarScript is the gzipped script of the page, fetched by make update-docs-ui.
//
//go:embed scalar/standalone.js.gz
var scalarScript []byte

// A Script is a gzipped script, which is served compressed to clients that accept gzip.
type Script struct {
	compressed *Document
	plain      func() *Document
}

func newScript() *Script {
	s := &Script{
		compressed: newScriptDocument(scalarScript),
		plain:      sync.OnceValue(func() *Document { return newScriptDocument(decompress(scalarScript)) }),
	}
	s.compressed.header.Set("Content-Encoding", "gzip")
	return s
}

func newScriptDocument(body []byte) *Document {
	d := newDocument("text/javascript; charset=utf-8", body)
	d.header.Set("Cache-Control", "public, max-age=31536000, immutable") // the path depends on the contents
	return d
}

// version returns a text that changes with the contents.
func (s *Script) version() string { return s.compressed.header.Get("ETag")[1:13] }

// ServeHTTP responds to GET and HEAD with the script, as [Document.ServeHTTP] does.
func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept-Encoding")
	if Accepts(r.Header.Values("Accept-Encoding"), "gzip") {
		s.compressed.ServeHTTP(w, r)
		return
	}
	s.plain().ServeHTTP(w, r)
}

// decompress returns the decompressed data. A test ensures that the script is valid.
func decompress(compressed []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil
	}
	plain, _ := io.ReadAll(reader)
	return plain
}

// Accepts reports whether the values of an Accept or Accept-Encoding header list
// wanted with a weight other than 0 (RFC 9110, section 12.4.2).
func Accepts(values []string, wanted string) bool {
	for item := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), wanted) {
			continue
		}
		weight := 1.0
		for parameter := range strings.SplitSeq(parameters, ";") {
			if q, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameter)), "q="); ok {
				weight, _ = strconv.ParseFloat(q, 64) // malformed: 0
			}
		}
		return weight > 0
	}
	return false
}
