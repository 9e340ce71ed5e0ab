package server

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxUnread is the maximum number of unread bytes of a body that are discarded so that the
// connection can be used again.
const maxUnread = 256 << 10

// handle is the outermost handler in HTTP/1. A panic passes through it: net/http then
// closes the connection, and conn responds unless a response has begun (C1.3), even for
// [http.ErrAbortHandler].
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor != 1 {
		// net/http lets the preface of HTTP/2 through. The response counts as net/http's
		// own, so that conn replaces it.
		w.WriteHeader(http.StatusHTTPVersionNotSupported)
		return
	}
	if unknownExpectation(r.Header["Expect"]) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusExpectationFailed) // like net/http for a single one
		return
	}
	c := r.Context().Value(connKey{}).(*conn) //nolint:forcetypeassert // see withConn
	out := &response{ResponseWriter: w, server: s, request: r, ambiguous: c.startRequest(r)}
	// A response does not wait for a body that the handler does not read.
	_ = out.controller().EnableFullDuplex() // all writers of net/http for HTTP/1 can

	ctx, cancel := context.WithTimeout(c.base, s.config.RequestTimeout)
	defer cancel()
	in := r.WithContext(ctx) //nolint:contextcheck // the context of r ends when the client closes its half
	if r.Body != http.NoBody {
		out.body = &http1Body{ReadCloser: r.Body, conn: c, left: r.ContentLength}
		in.Body = out.body
	}
	panicking := true
	defer func() {
		if panicking {
			c.discardInput()
		}
	}()
	s.config.Handler.ServeHTTP(out, in)
	panicking = false
	out.finish(c)
}

// unknownExpectation reports whether Expect, which is a list (RFC 9110, 10.1.1), has an
// expectation other than 100-continue.
func unknownExpectation(expect []string) bool {
	for _, line := range expect {
		for member := range strings.SplitSeq(line, ",") {
			member = strings.Trim(member, " \t")
			if member != "" && !strings.EqualFold(member, "100-continue") {
				return true
			}
		}
	}
	return false
}

// An http1Body is a request body that tracks how much of it was read.
type http1Body struct {
	io.ReadCloser

	conn  *conn
	left  int64 // negative if unknown
	ended bool
}

// Read implements [io.Reader]. It always returns a time-out as such, or as the Error of a
// shutdown; net/http does not if only the very end of a chunked body is missing.
func (b *http1Body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	switch {
	case err == nil:
	case err == io.EOF:
		b.ended = true
	default:
		b.left = -1
		if b.conn.timedOut() {
			return n, b.conn.server.lateBody()
		}
	}
	return n, err
}

// A response is an [http.ResponseWriter] that closes the connection after the response if
// it is uncertain where the next request begins. In full duplex net/http 1.26 does not: it
// parses the bytes after a malformed chunk as a request, and panics if a small body is
// unread.
type response struct {
	http.ResponseWriter

	server    *Server
	request   *http.Request
	body      *http1Body // nil if the request has none
	ambiguous bool       // whether the length of the request is ambiguous
	begun     bool
	closes    bool // the connection closes after the response
}

func (w *response) WriteHeader(status int) {
	if !w.begun && status >= http.StatusOK {
		w.begun = true
		switch {
		case w.request.ProtoMajor == 2: // net/http would close the connection with all its streams
			w.Header().Del("Connection")
		case w.Header().Get("Connection") == "close": // a fault on demand, or a body that was not read to its end
			w.request.ProtoMinor = 1 // as a response that no handler writes has it (C1.7)
		case !w.reusable(), w.server.leaving.Load():
			w.Header().Set("Connection", "close")
		}
		w.closes = w.request.Close || w.Header().Get("Connection") == "close"
	}
	w.ResponseWriter.WriteHeader(status)
}

// reusable reports whether the connection can be used after the response with the header
// about to be written.
func (w *response) reusable() bool {
	switch {
	case w.ambiguous, len(w.request.Trailer) > 0:
		return false
	case w.body == nil, w.body.ended:
		return true
	}
	// The rest of the body is discarded after the response. Without Content-Length, net/http
	// would send the end of the response only after that.
	return w.body.left >= 0 && w.body.left <= maxUnread &&
		w.Header().Get("Content-Length") != "" && w.request.Header.Get("Expect") == ""
}

func (w *response) Write(p []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(p)
}

func (w *response) Flush() {
	w.begin()
	_ = w.controller().Flush() // net/http closes the connection if it fails
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) begin() {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
}

func (w *response) controller() *http.ResponseController {
	return http.NewResponseController(w.ResponseWriter)
}

// finish sends the response when the handler has returned. It discards the rest of the body if
// the connection is to be used again, until RequestTimeout or a shutdown; endRequest detects a
// failure of that.
func (w *response) finish(c *conn) {
	w.begin()
	switch {
	case w.body == nil || w.body.ended:
	case w.closes:
		c.discardInput()
	default:
		w.Flush()
		stop := context.AfterFunc(c.server.draining, func() { _ = c.SetReadDeadline(time.Now().Add(drainGrace)) })
		_, _ = io.Copy(io.Discard, w.body)
		stop()
	}
}
