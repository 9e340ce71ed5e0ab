package server

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"plantstore/models"
)

const (
	// maxHeaderBytes bounds the request line and the header fields together.
	maxHeaderBytes = 32 << 10
	// maxHeaderLines bounds the lines of a header, each of which costs more memory than its
	// bytes.
	maxHeaderLines = 128
	// maxLine is the maximum number of bytes of a line that are kept. The evaluated fields are
	// shorter, or invalid.
	maxLine = 512
)

// Errors of reading a header, which are also the responses.
var (
	// errTruncated reports that the client has ended the header too early.
	errTruncated = models.NewError(models.CodeBadRequest,
		"the request ends before its header does; send it completely, with an empty line after the header")
	// errNotHTTP reports an invalid header. A control character is refused at once: another
	// protocol (such as TLS) may lack the end of line that net/http waits for.
	errNotHTTP = models.NewError(models.CodeBadRequest, "the request is not valid HTTP/1.1: check the request line, "+
		"that there is one Host, that every header field is a name, a colon and a value, "+
		"and that Content-Length is one number")
	// errFolded reports a line that begins with white space and so continues the line
	// before (RFC 9112, 5.2). Other implementations may see a field, or the end.
	errFolded = models.NewError(models.CodeBadRequest, "a line of the header begins with a space or a tab: "+
		"folding is not supported (RFC 9112, 5.2); send each header field in one line")
	// errHeaderTooLarge reports more than maxHeaderLines, or net/http's refusal of more
	// than maxHeaderBytes. The input was scanned nevertheless, for [conn.recipient].
	errHeaderTooLarge = models.Errorf(models.CodeHeaderTooLarge, "the request line and the header fields are more than "+
		"the limit of %d bytes or %d lines in all; send fewer or shorter ones", maxHeaderBytes, maxHeaderLines)
)

// A header has the scanned fields of the header of a request, as far as it was received.
type header struct {
	begun            bool // anything other than empty lines was received
	done             bool // the empty line at its end was received
	head             bool // the method is HEAD
	contentLength    bool // there is a Content-Length
	transferEncoding bool // there is a Transfer-Encoding
	requestIDs       []string
	origins          []string

	lines int    // complete ones
	line  []byte // the start of the current line, if it came in several pieces
}

// scan evaluates more of the header, and returns the length of data up to its end.
func (h *header) scan(data []byte) (n int, err error) {
	for n < len(data) && !h.done {
		piece, _, ended := bytes.Cut(data[n:], []byte("\n"))
		line := piece
		if len(h.line) > 0 || !ended {
			h.line = append(h.line, piece[:min(len(piece), maxLine-len(h.line))]...)
			line = h.line
		}
		h.begun = h.begun || len(bytes.Trim(piece, "\r")) > 0
		if h.lines == 0 {
			h.head = bytes.HasPrefix(line, []byte("HEAD "))
		}
		switch {
		case h.lines > 0 && len(line) > 0 && (line[0] == ' ' || line[0] == '\t'):
			return 0, errFolded
		case hasControl(piece):
			return 0, errNotHTTP
		}
		n += len(piece)
		if ended {
			n++
			h.endLine(line)
		}
	}
	return n, nil
}

// readRest scans pending and what follows it in r, up to the end of the header or of the input, or
// until enough returns true.
func (h *header) readRest(pending []byte, r io.Reader, enough func() bool) {
	_, err := h.scan(pending)
	for buffer := make([]byte, 4<<10); err == nil && !h.done && !enough(); {
		n, readErr := r.Read(buffer)
		if _, err = h.scan(buffer[:n]); readErr != nil {
			return
		}
	}
}

func hasControl(line []byte) bool {
	for _, b := range line {
		if b < ' ' && b != '\t' && b != '\r' || b == 0x7f {
			return true
		}
	}
	return false
}

// endLine evaluates a complete line.
func (h *header) endLine(line []byte) {
	h.line = nil
	switch {
	case !h.begun: // empty lines before a request are ignored (RFC 9112, 2.2)
		return
	case len(line) == 0 || len(line) == 1 && line[0] == '\r':
		h.done = true
		return
	}
	if h.lines++; h.lines == 1 {
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case isField(name, "Content-Length"):
		h.contentLength = true
	case isField(name, "Transfer-Encoding"):
		h.transferEncoding = true
	case isField(name, "X-Request-Id"):
		h.requestIDs = append(h.requestIDs, fieldValue(line, value))
	case isField(name, "Origin"):
		h.origins = append(h.origins, fieldValue(line, value))
	}
}

func isField(got []byte, name string) bool {
	return len(got) == len(name) && strings.EqualFold(string(got), name)
}

// fieldValue returns the value in a line, unless the line may have been cut off.
func fieldValue(line, value []byte) string {
	if len(line) >= maxLine {
		return ""
	}
	return string(bytes.Trim(value, " \t\r"))
}

// single returns the value of a header field if it occurs exactly once.
func single(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// A recipient has the properties of a request that its error response depends on.
type recipient struct {
	head   bool   // the method is HEAD: the response has no body
	id     string // the X-Request-Id, empty if it is missing or repeated; refuse replaces an invalid one
	origin string // the Origin, empty if it is missing or repeated
}

// recipient returns the recipient of the request, as far as the header was received.
func (h *header) recipient() recipient {
	return recipient{head: h.head, id: single(h.requestIDs), origin: single(h.origins)}
}

// recipientOf returns the recipient of a request that net/http has parsed.
func recipientOf(r *http.Request) recipient {
	return recipient{head: r.Method == http.MethodHead, id: single(r.Header["X-Request-Id"]), origin: single(r.Header["Origin"])}
}
