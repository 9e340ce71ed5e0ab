package server

import (
	"bytes"
	"net/http"
)

// chunkedLength is the length of a chunked body, which has its own end marker.
const chunkedLength = -1

// framing passes input on to net/http in portions that never extend beyond the end of a request:
// at most its header, then at most its body. It keeps the bytes after them. So it is always
// clear to which request a byte belongs, without a second parser of HTTP.
type framing struct {
	pending  []byte // read, but not passed on
	complete header // passed on, but not yet given to the handler
	next     header // being received, or next
	body     int64  // bytes of the current body to be passed on, or chunkedLength
	line     int    // length of the current line of a chunked body
}

// startBody is called when the handler gets r, at the beginning of its body. It reports
// whether the length of r is ambiguous: with both Content-Length and Transfer-Encoding,
// or with Transfer-Encoding in HTTP/1.0 (RFC 9112, 6.1). net/http hides this from
// handlers.
func (f *framing) startBody(r *http.Request) (ambiguous bool) {
	if f.body = r.ContentLength; r.Body == http.NoBody {
		f.body = 0
	}
	ambiguous = f.complete.transferEncoding && (f.complete.contentLength || !r.ProtoAtLeast(1, 1))
	f.complete = header{}
	f.line = 0
	return ambiguous
}

// endBody is called when net/http has finished a request. It returns false if a part of a body
// with Content-Length was not passed on. A connection with an unread chunked body is not reused.
func (f *framing) endBody() bool {
	finished := f.body <= 0
	f.body = 0
	return finished
}

// header returns the header of the request that the handler has not got yet.
func (f *framing) header() *header {
	if f.complete.done {
		return &f.complete
	}
	return &f.next
}

// begun reports whether the client has begun a request that the handler has not got
// yet.
func (f *framing) begun() bool {
	return f.header().begun || len(bytes.Trim(f.pending, "\r\n")) > 0
}

// admit takes p[:n], which was read into p, and returns the length of the portion to
// pass on. It keeps the rest. The length is not 0 unless there is an error.
func (f *framing) admit(p []byte, n int) (int, error) {
	portion, err := f.portion(p[:n], len(p))
	if portion < n {
		f.pending = bytes.Clone(p[portion:n])
	}
	return portion, err
}

// release is [framing.admit] for the pending input.
func (f *framing) release(p []byte) (int, error) {
	portion, err := f.portion(f.pending[:min(len(p), len(f.pending))], len(p))
	copy(p, f.pending[:portion])
	if f.pending = f.pending[portion:]; len(f.pending) == 0 {
		f.pending = nil // an idle connection keeps no memory
	}
	return portion, err
}

// portion returns how much of data to pass on to a read of size bytes.
//
// A chunked body ends with an empty line, like a header. Further empty lines within it
// do no harm. After the end, net/http reads a single byte ahead while the handler runs.
func (f *framing) portion(data []byte, size int) (int, error) {
	switch {
	case f.body > 0:
		n := min(int64(len(data)), f.body)
		f.body -= n
		return int(n), nil
	case f.body == chunkedLength && size > 1:
		return f.toEmptyLine(data), nil
	}
	n, err := f.next.scan(data)
	if err == nil && f.next.lines > maxHeaderLines {
		err = errHeaderTooLarge
	}
	if f.next.done {
		f.complete, f.next = f.next, header{}
	}
	return n, err
}

// toEmptyLine returns the length of data up to the end of its first empty line.
func (f *framing) toEmptyLine(data []byte) int {
	for i, b := range data {
		switch {
		case b == '\n' && f.line == 0:
			return i + 1
		case b == '\n':
			f.line = 0
		case b != '\r':
			f.line++
		}
	}
	return len(data)
}
