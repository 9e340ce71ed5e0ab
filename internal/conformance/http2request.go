package conformance

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// errHTTP1Only means that HTTP/2 cannot express a case.
var errHTTP1Only = fmt.Errorf("%w: only HTTP/1.1 can express it", errNotApplicable)

// An http2Request is a request as HTTP/2 sends it.
type http2Request struct {
	fields    []hpack.HeaderField
	body      []byte
	size      int  // maximum of each DATA frame; 0: no limit
	truncated bool // the end of the body is never sent
}

// equal reports whether two requests are the same.
func (r http2Request) equal(other http2Request) bool {
	return slices.Equal(r.fields, other.fields) && bytes.Equal(r.body, other.body)
}

// http2 returns the requests of an exchange as HTTP/2 sends them.
func (t Exchange) http2(v values) ([]http2Request, error) {
	requests := make([]http2Request, len(t.Send))
	for i, r := range t.Send {
		request, err := r.http2(v, t.HTTP2Only)
		if err != nil {
			return nil, err
		}
		if i == len(t.Send)-1 && t.HoldBack > 0 {
			if t.HoldBack > len(request.body) || t.Then == ThenHalfClose {
				return nil, errHTTP1Only
			}
			request.body, request.truncated = request.body[:len(request.body)-t.HoldBack], true
		}
		if t.Pieces > 0 {
			request.size = t.Pieces
		}
		requests[i] = request
	}
	return requests, nil
}

// http2 returns the request as HTTP/2 sends it, or errHTTP1Only. With odd, it keeps fields
// that HTTP/2 forbids.
func (r Request) http2(v values, odd bool) (http2Request, error) {
	words := strings.Split(r.Line, " ")
	if r.Raw != "" || len(words) != 3 || words[2] != "HTTP/1.1" || words[0] == http.MethodConnect || len(strings.Join(r.Header, "")) > 1<<16 {
		return http2Request{}, errHTTP1Only
	}
	size, unchunked := r.Chunk, r
	if r.Chunk > 0 {
		unchunked = r.without("Transfer-Encoding")
		unchunked.Chunk = 0
	}
	text, err := unchunked.bytes(v)
	if err != nil {
		return http2Request{}, err
	}
	head, body, _ := bytes.Cut(text, []byte("\r\n\r\n"))
	lines := strings.Split(string(head), "\r\n")
	words = strings.Split(lines[0], " ")
	if len(words) != 3 || len(words[1]) > 1<<16 || !strings.HasPrefix(words[1], "/") && words[1] != "*" {
		return http2Request{}, errHTTP1Only
	}
	fields, err := fieldsOf(lines[1:], len(body), odd)
	pseudo := []hpack.HeaderField{
		{Name: ":method", Value: words[0]},
		{Name: ":scheme", Value: v.scheme},
		{Name: ":path", Value: words[1]},
	}
	return http2Request{fields: slices.Concat(pseudo, fields), body: body, size: size}, err
}

// connectionFields are the fields that HTTP/2 forbids (RFC 9113, 8.2.2).
func connectionFields() []string {
	return []string{"connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade", "te"}
}

// fieldsOf returns the fields of a header, with Host as :authority (RFC 9113,
// 8.3.1).
func fieldsOf(lines []string, length int, odd bool) ([]hpack.HeaderField, error) {
	var authority, fields []hpack.HeaderField
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.ToLower(name), strings.Trim(value, " \t")
		switch {
		case odd:
		case !ok || name == "" || strings.ContainsAny(name, " \t()"), slices.Contains(connectionFields(), name):
			return nil, errHTTP1Only
		case name == "content-length" && value != strconv.Itoa(length):
			return nil, errHTTP1Only
		}
		if name == "host" {
			authority = append(authority, hpack.HeaderField{Name: ":authority", Value: value})
			continue
		}
		fields = append(fields, hpack.HeaderField{Name: name, Value: value, Sensitive: name == "authorization"})
	}
	if len(authority) != 1 && !odd {
		return nil, errHTTP1Only
	}
	return append(authority, fields...), nil
}
