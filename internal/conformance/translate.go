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

// errOnlyOne says that a case is about what only HTTP/1.1 has.
var errOnlyOne = fmt.Errorf("%w: only HTTP/1.1 can say it", errNotApplicable)

// A requestTwo is a request in the terms of HTTP/2.
type requestTwo struct {
	fields   []hpack.HeaderField
	body     []byte
	size     int  // of each piece of the body; 0: as large as may be
	unending bool // the end of the body is never sent
}

// equal reports whether two requests say the same.
func (r requestTwo) equal(other requestTwo) bool {
	return slices.Equal(r.fields, other.fields) && bytes.Equal(r.body, other.body)
}

// inTwo returns the requests of a talk in the terms of HTTP/2.
func (t Talk) inTwo(v values) ([]requestTwo, error) {
	requests := make([]requestTwo, len(t.Send))
	for i, r := range t.Send {
		request, err := r.inTwo(v, t.Two)
		if err != nil {
			return nil, err
		}
		if i == len(t.Send)-1 && t.HoldBack > 0 {
			if t.HoldBack > len(request.body) || t.Then == ThenHalfClose {
				return nil, errOnlyOne
			}
			request.body, request.unending = request.body[:len(request.body)-t.HoldBack], true
		}
		if t.Pieces > 0 {
			request.size = t.Pieces
		}
		requests[i] = request
	}
	return requests, nil
}

// inTwo returns the request in the terms of HTTP/2, if it has any: odd allows
// fields that it must not have.
func (r Request) inTwo(v values, odd bool) (requestTwo, error) {
	words := strings.Split(r.Line, " ")
	if r.Raw != "" || len(words) != 3 || words[2] != "HTTP/1.1" || words[0] == http.MethodConnect || len(strings.Join(r.Header, "")) > 1<<16 {
		return requestTwo{}, errOnlyOne
	}
	size, whole := r.Chunk, r
	if r.Chunk > 0 {
		whole = r.without("Transfer-Encoding")
		whole.Chunk = 0
	}
	text, err := whole.bytes(v)
	if err != nil {
		return requestTwo{}, err
	}
	head, body, _ := bytes.Cut(text, []byte("\r\n\r\n"))
	lines := strings.Split(string(head), "\r\n")
	words = strings.Split(lines[0], " ")
	if len(words) != 3 || len(words[1]) > 1<<16 || !strings.HasPrefix(words[1], "/") && words[1] != "*" {
		return requestTwo{}, errOnlyOne
	}
	fields, err := fieldsOf(lines[1:], len(body), odd)
	pseudo := []hpack.HeaderField{
		{Name: ":method", Value: words[0]},
		{Name: ":scheme", Value: v.scheme},
		{Name: ":path", Value: words[1]},
	}
	return requestTwo{fields: slices.Concat(pseudo, fields), body: body, size: size}, err
}

// onlyOne are the fields that HTTP/2 does not have (RFC 9113, 8.2.2).
func onlyOne() []string {
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
		case !ok || name == "" || strings.ContainsAny(name, " \t()"), slices.Contains(onlyOne(), name):
			return nil, errOnlyOne
		case name == "content-length" && value != strconv.Itoa(length):
			return nil, errOnlyOne
		}
		if name == "host" {
			authority = append(authority, hpack.HeaderField{Name: ":authority", Value: value})
			continue
		}
		fields = append(fields, hpack.HeaderField{Name: name, Value: value, Sensitive: name == "authorization"})
	}
	if len(authority) != 1 && !odd {
		return nil, errOnlyOne
	}
	return append(authority, fields...), nil
}
