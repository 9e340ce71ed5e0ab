package server

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"plantstore/models"
)

// errNotHTTP is the error of reading a header with a control character in it.
// No such header is valid, and the greeting of another protocol (TLS, say) may
// lack the end of line for which net/http would wait.
var errNotHTTP = errors.New("a control character in a header")

// errFolded is the error of reading a header with a line that begins with a space
// or a tab and so goes on with the line before (RFC 9112, 5.2). Others may read it
// as a field of its own, or as the end of the header.
var errFolded = errors.New("a folded line in a header")

// errManyLines is the error of reading a header of more than maxHeaderLines. What
// was read has been looked through all the same, for [conn.refused].
var errManyLines = errors.New("too many lines in a header")

// maxHeaderLines bounds the lines of a header, which cost more memory than their
// bytes do.
const maxHeaderLines = 128

// ofChunks is the length of a body that tells its length by itself.
const ofChunks = -1

// An intake lets input through to net/http in portions that never reach beyond
// the end of a request: at most a header as a whole, then at most its body. What
// was read beyond is kept. So it is known at any time to which request a byte
// belongs, without a second parser of HTTP.
type intake struct {
	kept  []byte
	small [128]byte // the memory of kept, if it is enough
	last  head      // the header that is complete, but not yet with the handler
	next  head      // the header that comes in now or next
	body  int64     // bytes of the current body still to be let through, or ofChunks
	line  int       // length of the current line of a body of chunks
}

// begin is called when the handler gets r, whose body begins now. It reports
// whether the length of r is in doubt: with both a Content-Length and a
// Transfer-Encoding, or with a Transfer-Encoding in HTTP/1.0 (RFC 9112, 6.1).
// net/http hides from the handler what it did not use.
func (in *intake) begin(r *http.Request) (doubtful bool) {
	if in.body = r.ContentLength; r.Body == http.NoBody {
		in.body = 0
	}
	doubtful = in.last.transfer && (in.last.length || !r.ProtoAtLeast(1, 1))
	in.last = head{}
	in.line = 0
	return doubtful
}

// head returns the header of the request that the handler has not got yet.
func (in *intake) head() *head {
	if in.last.done {
		return &in.last
	}
	return &in.next
}

// waiting reports whether the client has begun a request that the handler has
// not got yet.
func (in *intake) waiting() bool {
	return in.head().begun || len(bytes.Trim(in.kept, "\r\n")) > 0
}

// end is called when net/http is done with a request, and reports whether its
// body has been let through to the end.
func (in *intake) end() bool {
	whole := in.body <= 0
	in.body = 0
	return whole
}

// admit lets the first part of p[:n], which has just been read into p, through,
// and keeps the rest. It returns the length of the part, which is not 0 unless
// there is an error.
func (in *intake) admit(p []byte, n int) (int, error) {
	portion, err := in.portion(p[:n], len(p))
	if portion < n {
		in.kept = append(in.small[:0], p[portion:n]...)
	}
	return portion, err
}

// release is [intake.admit] for what has been kept.
func (in *intake) release(p []byte) (int, error) {
	portion, err := in.portion(in.kept[:min(len(p), len(in.kept))], len(p))
	copy(p, in.kept[:portion])
	if in.kept = in.kept[portion:]; len(in.kept) == 0 {
		in.kept = nil // an idle connection keeps no memory
	}
	return portion, err
}

// portion returns how much of data may be let through to a read of size bytes.
//
// The end of a body of chunks shows by an empty line, as that of a header does;
// that there are empty lines within the body is no harm. When net/http has seen
// the end, it reads a single byte of what comes next while the handler works.
func (in *intake) portion(data []byte, size int) (int, error) {
	switch {
	case in.body > 0:
		n := min(int64(len(data)), in.body)
		in.body -= n
		return int(n), nil
	case in.body == ofChunks && size > 1:
		return in.toEmptyLine(data), nil
	}
	n, err := in.next.scan(data)
	if err == nil && in.next.lines > maxHeaderLines {
		err = errManyLines
	}
	if in.next.done {
		in.last, in.next = in.next, head{}
	}
	return n, err
}

// toEmptyLine returns the length of data up to the end of its first empty line.
func (in *intake) toEmptyLine(data []byte) int {
	for i, b := range data {
		switch {
		case b == '\n' && in.line == 0:
			return i + 1
		case b == '\n':
			in.line = 0
		case b != '\r':
			in.line++
		}
	}
	return len(data)
}

const (
	headMethod     = "HEAD "
	lengthField    = "content-length:"
	transferField  = "transfer-encoding:"
	requestIDField = "x-request-id:"
	originField    = "origin:"
)

// A requester is what an answer of the server's own takes from the request.
type requester struct {
	bodiless bool   // the method is HEAD: the answer has no body
	id       string // the X-Request-Id, or empty if there is no single sane one
	origin   string // the Origin, or empty if there is no single one
}

// requesterOf returns the requester of a request that net/http has read.
func requesterOf(r *http.Request) requester {
	from := requester{bodiless: r.Method == http.MethodHead}
	if ids := r.Header["X-Request-Id"]; len(ids) == 1 && models.SaneRequestID(ids[0]) {
		from.id = ids[0]
	}
	if origins := r.Header["Origin"]; len(origins) == 1 {
		from.origin = origins[0]
	}
	return from
}

// A head is what has been let through of the header of a request.
type head struct {
	begun    bool // anything but empty lines has come
	done     bool // all has come, with the empty line at its end
	bodiless bool // the method is HEAD
	length   bool // there is a Content-Length
	transfer bool // there is a Transfer-Encoding

	id, origin field // X-Request-Id and Origin

	lines int                      // whole lines so far
	size  int                      // length of the current line so far
	start [len(transferField)]byte // how the current line begins
}

// scan returns the length of data up to the end of the header.
func (h *head) scan(data []byte) (int, error) {
	for i := 0; i < len(data); i++ {
		if h.uninteresting() {
			i += h.skip(data[i:])
			if i == len(data) {
				break
			}
		}
		switch b := data[i]; {
		case (b == ' ' || b == '\t') && h.size == 0 && h.lines > 0:
			return 0, errFolded
		case b == '\n' && !h.begun:
			h.size = 0
		case b == '\n' && (h.size == 0 || h.size == 1 && h.start[0] == '\r'):
			h.done = true
			return i + 1, nil
		case b == '\n':
			h.lines++
			h.size, h.id.open, h.origin.open = 0, false, false
		case b < ' ' && b != '\t' && b != '\r', b == 0x7f:
			h.begun = true
			return 0, errNotHTTP
		default:
			h.begun = h.begun || b != '\r'
			h.note(b)
		}
	}
	return len(data), nil
}

// uninteresting reports whether the rest of the current line says nothing that is
// looked for.
func (h *head) uninteresting() bool {
	switch {
	case !h.begun || h.size == 0 || h.lines == 0 && h.size < len(headMethod):
		return false
	case h.size >= len(h.start):
		return !h.id.open && !h.origin.open
	}
	switch h.start[0] | ('a' - 'A') { // in lower case, if it is a letter
	case lengthField[0], transferField[0], requestIDField[0], originField[0]:
		return false
	}
	return true
}

// skip passes over bytes of the current line up to its end, or a control character,
// and returns how many.
func (h *head) skip(data []byte) int {
	n := 0
	for n < len(data) && data[n] >= ' ' && data[n] != 0x7f {
		n++
	}
	h.size += n
	return n
}

// note adds a byte to the current line.
func (h *head) note(b byte) {
	if h.size < len(h.start) {
		h.start[h.size] = b
	}
	h.size++
	h.id.note(b)
	h.origin.note(b)
	switch start := h.start[:min(h.size, len(h.start))]; {
	case h.size == len(headMethod) && h.lines == 0:
		h.bodiless = string(start) == headMethod
	case h.size == len(lengthField) && strings.EqualFold(string(start), lengthField):
		h.length = true
	case h.size == len(transferField) && strings.EqualFold(string(start), transferField):
		h.transfer = true
	case h.size == len(requestIDField) && strings.EqualFold(string(start), requestIDField):
		h.id.begin()
	case h.size == len(originField) && strings.EqualFold(string(start), originField):
		h.origin.begin()
	}
}

// maxValue is how much of the value of a field is kept. That of any field that is
// looked at is shorter, unless it is of no use.
const maxValue = 512

// A field is what a header says under one name.
type field struct {
	lines int    // with this name
	open  bool   // the current line is one of them
	value []byte // of the last of them, without what is too much
}

// begin is called after the colon of a line with this name.
func (f *field) begin() {
	f.lines++
	f.open, f.value = true, f.value[:0]
}

// note adds a byte of the current line, if that is one of the field.
func (f *field) note(b byte) {
	if f.open && len(f.value) < maxValue && (len(f.value) > 0 || b != ' ' && b != '\t') {
		f.value = append(f.value, b)
	}
}

// single returns the value if there is exactly one line and it has come whole.
func (f *field) single() string {
	if f.lines != 1 || f.open || len(f.value) == maxValue {
		return ""
	}
	return string(bytes.TrimRight(f.value, " \t\r"))
}

// requester returns what is known of the requester so far.
func (h *head) requester() requester {
	from := requester{bodiless: h.bodiless, origin: h.origin.single()}
	if id := h.id.single(); models.SaneRequestID(id) {
		from.id = id
	}
	return from
}
