// Package apidocs serves the OpenAPI description of the service as YAML, JSON and an
// interactive page. openapi.yaml is written by hand and defines the wire format. After a
// change, make generate writes openapi.json and page.json.
package apidocs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var (
	//go:embed openapi.yaml
	openAPIYAML []byte
	//go:embed openapi.json
	openAPIJSON []byte
)

// A Description is the OpenAPI description of a server, as YAML and as JSON.
type Description struct {
	YAML *Document
	JSON *Document

	byHost bool // see For
}

// defaultURL is the URL of the server in both files.
const defaultURL = "http://127.0.0.1:8080"

// New returns the description of the server at the absolute URL baseURL. A trailing slash
// is dropped, since paths begin with one. It fails if baseURL is not UTF-8. An empty baseURL makes
// [Description.For] describe the server by the Host of a request.
func New(baseURL string) (*Description, error) {
	url, err := json.Marshal(serverURL(cmp.Or(baseURL, defaultURL)), jsontext.EscapeForJS(true)) // in YAML 1.1, as in JavaScript, U+2028 and U+2029 end a line
	if err != nil {
		return nil, fmt.Errorf("the base URL: %w", err)
	}
	placeholder := []byte(`"` + defaultURL + `"`) // a JSON string is also valid in YAML
	at := func(document []byte) []byte { return bytes.Replace(document, placeholder, url, 1) }
	return &Description{
		YAML: newDocument("application/yaml", at(openAPIYAML)), // RFC 9512
		JSON: newDocument("application/json", at(openAPIJSON)),

		byHost: baseURL == "",
	}, nil
}

// serverURL returns baseURL without a trailing slash, since paths are appended, and with
// braces escaped, since they denote variables.
func serverURL(baseURL string) string {
	return strings.NewReplacer("{", "%7B", "}", "%7D").Replace(strings.TrimRight(baseURL, "/"))
}

// A Document is a static HTTP resource with an ETag, such as the description as JSON.
type Document struct {
	header http.Header
	body   []byte
}

func newDocument(mediaType string, body []byte) *Document {
	sum := sha256.Sum256(body)
	return &Document{
		header: http.Header{
			"Content-Type":   {mediaType},
			"Cache-Control":  {"no-cache"},
			"Etag":           {`"` + hex.EncodeToString(sum[:16]) + `"`},
			"Content-Length": {strconv.Itoa(len(body))}, // ServeContent omits it if there is a Content-Encoding
		},
		body: body,
	}
}

// Bytes returns a copy of the document.
func (d *Document) Bytes() []byte { return bytes.Clone(d.body) }

// ServeHTTP responds to GET and HEAD with the document, or with 304 if If-None-Match
// matches (RFC 9110, section 13.1.2). It ignores other preconditions and ranges, since
// their failure would not be an Error (C1.3). The caller must not pass other methods.
//
// A page of another origin, such as a playground, gets a description with new ids in its examples
// each time, so that an example that nobody has edited creates a plant.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Origin") != "" && strings.HasPrefix(d.header.Get("Content-Type"), "application/") {
		d = d.drawn()
	}
	maps.Copy(w.Header(), d.header)
	conditional := &http.Request{Method: r.Method, Header: http.Header{
		"If-None-Match": {strings.Join(r.Header.Values("If-None-Match"), ", ")},
	}}
	http.ServeContent(writer{w, d.body}, conditional, "", time.Time{}, bytes.NewReader(d.body))
}

// A writer writes a document for [http.ServeContent], without Accept-Ranges.
type writer struct {
	http.ResponseWriter

	body []byte
}

func (w writer) WriteHeader(status int) {
	w.Header().Del("Accept-Ranges")
	w.ResponseWriter.WriteHeader(status)
}

// ReadFrom implements [io.ReaderFrom]. It writes the document instead, at once: [io.Copy] would hold
// 32 KiB for a client that does not read.
func (w writer) ReadFrom(io.Reader) (int64, error) {
	n, err := w.Write(w.body)
	return int64(n), err
}
