// Package apidocs holds the OpenAPI description of the service: openapi.yaml,
// written by hand and the source of truth for what goes over the wire, and what
// is made from it to be served.
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

// A Description is the OpenAPI description of a server, in both its notations.
type Description struct {
	YAML *Document
	JSON *Document
}

// New returns the description of the server that is reached at baseURL, an
// absolute URL; a slash at its end is dropped, since the paths of the
// description start with one. It fails if baseURL is not UTF-8.
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

// setServer replaces the URL of the one server that the source has.
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

// serverURL returns baseURL as a server's URL, to which a path is appended and
// in which braces would name a variable.
func serverURL(baseURL string) string {
	return strings.NewReplacer("{", "%7B", "}", "%7D").Replace(strings.TrimRight(baseURL, "/"))
}

// encodeYAML writes the document with its comments, in the order of its source.
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

// A Document is something about the service, such as the description in one
// notation, ready to be served.
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

// ServeHTTP answers GET and HEAD with the document, or with 304 if the client
// has it already by its If-None-Match (RFC 9110, 13.1.2). It never fails: other
// preconditions and ranges, whose refusal would not be an Error (C1.3), are
// ignored. The caller sees to it that no other method comes here.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", d.mediaType)
	header.Set("Cache-Control", d.cacheControl)
	header.Set("ETag", d.etag)
	header.Set("Content-Length", strconv.Itoa(len(d.body))) // ServeContent leaves it out if there is a Content-Encoding
	conditional := &http.Request{Method: r.Method, Header: http.Header{
		"If-None-Match": {strings.Join(r.Header.Values("If-None-Match"), ", ")},
	}}
	http.ServeContent(withoutRanges{w}, conditional, "", time.Time{}, bytes.NewReader(d.body))
}

// withoutRanges takes back the offer to answer with ranges that
// [http.ServeContent] makes.
type withoutRanges struct{ http.ResponseWriter }

func (w withoutRanges) WriteHeader(status int) {
	w.Header().Del("Accept-Ranges")
	w.ResponseWriter.WriteHeader(status)
}
