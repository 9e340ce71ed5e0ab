package server

import (
	"io"
	"net/http"
	"os"
	"strings"
)

// drainable is how many bytes of a body that the handler has not read are read
// and dropped, for the sake of the next request on the connection.
const drainable = 256 << 10

// handle is the outermost handler. A panic passes through it: net/http closes
// the connection then, and conn answers unless an answer has begun (C1.3), even
// for [http.ErrAbortHandler].
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor != 1 {
		// Of other versions, net/http lets through the preface of HTTP/2. The
		// request stays net/http's own, so that conn answers it.
		w.WriteHeader(http.StatusHTTPVersionNotSupported)
		return
	}
	if unmet(r.Header["Expect"]) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusExpectationFailed) // as net/http does if no member is 100-continue
		return
	}
	c := r.Context().Value(connKey{}).(*conn) //nolint:forcetypeassert // withConn puts nothing else there
	c.exchange.answer = answer{ResponseWriter: w, request: r, doubtful: c.begin(r)}
	a := &c.exchange.answer
	// An answer must not wait for a body that the handler does not want. All
	// writers of net/http for HTTP/1 can do this.
	_ = a.controller().EnableFullDuplex()

	ctx := c.exchange.term.begin(r.Context(), s.config.RequestTimeout)
	defer c.exchange.end()
	inner := r.WithContext(ctx) //nolint:contextcheck // it has the values of that of r
	if r.Body != http.NoBody {
		c.exchange.body = body{ReadCloser: r.Body, conn: c, left: r.ContentLength}
		a.body = &c.exchange.body
		inner.Body = a.body
	}
	panicking := true
	defer func() {
		if panicking {
			c.stopReading()
		}
	}()
	s.config.Handler.ServeHTTP(a, inner)
	panicking = false
	a.finish(c)
}

// unmet reports whether Expect, which is a list (RFC 9110, 10.1.1), has a member that
// the server does not meet.
func unmet(expect []string) bool {
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

// An exchange is what the handler of a request is given. It belongs to the
// connection, whose requests have it one after the other: a handler must be done
// with all of it when it returns, as net/http demands.
type exchange struct {
	answer answer
	body   body
	term   term
}

// end forgets the request: an idle connection must not keep it.
func (e *exchange) end() {
	e.answer, e.body = answer{}, body{}
	e.term.end()
}

// A body is a request body that knows how much of it has been read.
type body struct {
	io.ReadCloser

	conn   *conn
	left   int64 // negative if the body is one of chunks
	ended  bool
	failed bool
}

// Read implements [io.Reader]. If the client was too slow, it always says so;
// net/http forgets it when only the very end of a body of chunks is missing.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	switch {
	case err == nil:
	case err == io.EOF:
		b.ended = true
	default:
		b.failed = true
		if b.conn.timedOut() {
			err = os.ErrDeadlineExceeded
		}
	}
	return n, err
}

// An answer is a [http.ResponseWriter] that closes the connection after the
// answer if it is not certain where the next request would begin. With full
// duplex, net/http 1.26 is no help there: it takes what follows a malformed
// chunk for a request, and panics over a small body that nobody has read.
type answer struct {
	http.ResponseWriter

	request  *http.Request
	body     *body // nil if the request has none
	doubtful bool  // the length of the request is in doubt
	begun    bool
	closes   bool // the connection closes after the answer
}

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if !a.begun && status >= http.StatusOK {
		a.begun = true
		switch {
		case a.request.ProtoMajor == 2: // streams do not get in each other's way
			a.Header().Del("Connection")
		case !a.reusable():
			a.Header().Set("Connection", "close")
		}
		a.closes = a.request.Close || a.Header().Get("Connection") == "close"
	}
	a.ResponseWriter.WriteHeader(status)
}

// reusable reports whether the connection can be used after the answer, whose
// header is about to be written.
func (a *answer) reusable() bool {
	switch {
	case a.doubtful, len(a.request.Trailer) > 0:
		return false
	case a.body == nil:
		return true
	case a.body.ended, a.body.failed:
		return a.body.ended
	}
	// The rest of the body is dropped later. Until then the end of an answer
	// of unknown length would not be sent.
	return a.body.left >= 0 && a.body.left <= drainable &&
		a.Header().Get("Content-Length") != "" && a.request.Header.Get("Expect") == ""
}

// Write implements [io.Writer].
func (a *answer) Write(p []byte) (int, error) {
	a.begin()
	return a.ResponseWriter.Write(p)
}

// Flush implements [http.Flusher].
func (a *answer) Flush() {
	a.begin()
	_ = a.controller().Flush() // net/http closes the connection if that fails
}

// Unwrap is for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) begin() {
	if !a.begun {
		a.WriteHeader(http.StatusOK)
	}
}

func (a *answer) controller() *http.ResponseController {
	return http.NewResponseController(a.ResponseWriter)
}

// finish is called when the handler is done. It sends the answer, and drops the
// rest of the body if the connection is to be used again. Should that fail,
// [conn.idle] finds out.
func (a *answer) finish(c *conn) {
	a.begin()
	switch {
	case a.body == nil || a.body.ended:
	case a.closes:
		c.stopReading()
	default:
		a.Flush()
		_, _ = io.Copy(io.Discard, a.body)
	}
}
