// Package apidocs serves the OpenAPI description of the service as YAML, JSON and an
// interactive page. openapi.yaml is written by hand and defines the wire format. After a
// change, make generate writes openapi.json and page.json.
package apidocs

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

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
	encoded, err := json.Marshal(serverURL(cmp.Or(baseURL, defaultURL)), jsontext.EscapeForJS(true)) // in YAML 1.1, as in JavaScript, U+2028 and U+2029 end a line
	if err != nil {
		return nil, fmt.Errorf("the base URL: %w", err)
	}
	placeholder := []byte(`"` + defaultURL + `"`) // a JSON string is also valid in YAML
	at := func(document []byte) []byte { return bytes.Replace(document, placeholder, encoded, 1) }
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

// For returns the description for a request: that of the server at the Host of the request, if
// [New] got no URL and that is a host name or an address, else d. A proxy that terminates TLS sets
// X-Forwarded-Proto.
func (d *Description) For(r *http.Request) *Description {
	if !d.byHost || !isHost(r.Host) {
		return d
	}
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	at, err := New(scheme + "://" + r.Host)
	if err != nil {
		return d
	}
	return at
}

// hostName matches the names of hosts, also those with underscores in private networks.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([\w.-]*\w)?$`)

// isHost reports whether text is a host name or an IP address, with or without a port.
func isHost(text string) bool {
	if len(text) > 255 {
		return false
	}
	u, err := url.Parse("http://" + text)
	if err != nil || u.Host != text {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err == nil || hostName.MatchString(u.Hostname())
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
			"Content-Length": {strconv.Itoa(len(body))},
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
	header := w.Header()
	maps.Copy(header, d.header)
	sent := strings.Join(r.Header.Values("If-None-Match"), ", ")
	if sent == "*" || strings.Contains(sent, header.Get("Etag")) { // also a weak one
		for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding"} {
			header.Del(name)
		}
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(d.body) // best effort
	}
}

// exactID is the example of an id that a double-precision number cannot hold.
const exactID = "9007199254740993"

var (
	// exampleID matches the id of an example, except for those that show a limit. It begins with
	// letters, which makes the search fast.
	exampleID = regexp.MustCompile(`id"?: ([1-9]|` + exactID + `),?\n`)
	digits    = regexp.MustCompile(`\d+`)
)

// drawn returns the document with new ids in its examples.
func (d *Document) drawn() *Document {
	return newDocument(d.header.Get("Content-Type"), exampleID.ReplaceAllFunc(d.body, drawID))
}

// drawID replaces an id by a new one of the same kind: one of ten digits, or an odd number beyond 2^53.
func drawID(text []byte) []byte {
	var random [8]byte
	rand.Read(random[:]) // never fails
	n := binary.BigEndian.Uint64(random[:])
	id := 1e9 + n%9e9
	if bytes.Contains(text, []byte(exactID)) {
		id = 1<<53 + 1 + n%(1<<52)*2
	}
	return digits.ReplaceAll(text, strconv.AppendUint(nil, id, 10))
}
