// Package apidocs serves the OpenAPI description of the service as YAML, JSON and an
// interactive page. Its source is openapi.yaml, which is written by hand and defines the
// wire format.
package apidocs

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

//go:embed openapi.yaml
var source []byte

// A Description is the OpenAPI description of a server, as YAML and as JSON.
type Description struct {
	YAML *Document
	JSON *Document
}

// New returns the description of the server at the absolute URL baseURL. A trailing slash
// is dropped, since paths begin with one. It fails if baseURL is not UTF-8.
func New(baseURL string) (*Description, error) {
	if !utf8.ValidString(baseURL) {
		return nil, errors.New("the base URL is not UTF-8")
	}
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	if err := setServer(&root, baseURL); err != nil {
		return nil, err
	}
	asYAML, err := encodeYAML(&root)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml to YAML: %w", err)
	}
	asJSON, err := encodeJSON(&root)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml to JSON: %w", err)
	}
	return &Description{
		YAML: newDocument("application/yaml", asYAML), // RFC 9512
		JSON: newDocument("application/json", asJSON),
	}, nil
}

// setServer replaces the URL of the only server in the source.
func setServer(root *yaml.Node, baseURL string) error {
	servers := member(root.Content[0], "servers")
	if servers == nil || len(servers.Content) != 1 {
		return errors.New("openapi.yaml: must have exactly one server")
	}
	url := member(servers.Content[0], "url")
	if url == nil {
		return errors.New("openapi.yaml: the server must have a url")
	}
	url.SetString(serverURL(baseURL))
	return nil
}

// member returns the value under key in a mapping, or nil.
func member(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// serverURL returns baseURL without a trailing slash, since paths are appended, and with
// braces escaped, since they denote variables.
func serverURL(baseURL string) string {
	return strings.NewReplacer("{", "%7B", "}", "%7D").Replace(strings.TrimRight(baseURL, "/"))
}

// encodeYAML encodes the document in its original order, with comments.
func encodeYAML(root *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// A Document is a static HTTP resource with an ETag, such as the description as JSON.
type Document struct {
	mediaType    string
	cacheControl string
	etag         string
	body         []byte
}

func newDocument(mediaType string, body []byte) *Document {
	sum := sha256.Sum256(body)
	return &Document{
		mediaType:    mediaType,
		cacheControl: "no-cache",
		etag:         `"` + hex.EncodeToString(sum[:16]) + `"`,
		body:         body,
	}
}

// Bytes returns a copy of the document.
func (d *Document) Bytes() []byte { return bytes.Clone(d.body) }

// ServeHTTP responds to GET and HEAD with the document, or with 304 if If-None-Match
// matches (RFC 9110, section 13.1.2). It ignores other preconditions and ranges, since
// their failure would not be an Error (C1.3). The caller must not pass other methods.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", d.mediaType)
	header.Set("Cache-Control", d.cacheControl)
	header.Set("ETag", d.etag)
	header.Set("Content-Length", strconv.Itoa(len(d.body))) // ServeContent omits it if there is a Content-Encoding
	conditional := &http.Request{Method: r.Method, Header: http.Header{
		"If-None-Match": {strings.Join(r.Header.Values("If-None-Match"), ", ")},
	}}
	http.ServeContent(withoutRanges{w}, conditional, "", time.Time{}, bytes.NewReader(d.body))
}

// withoutRanges removes the Accept-Ranges that [http.ServeContent] sets.
type withoutRanges struct{ http.ResponseWriter }

func (w withoutRanges) WriteHeader(status int) {
	w.Header().Del("Accept-Ranges")
	w.ResponseWriter.WriteHeader(status)
}
