package server

import (
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"time"

	"plantstore/models"
)

// connKey is the key of the context value that is the connection of a request.
type connKey struct{}

// handle is the outermost handler. A connection closes after a response if it is not certain where
// the next request begins: net/http removes a Content-Length beside a transfer coding, and in
// HTTP/1.0 a transfer coding, without a trace (RFC 9112, 6.1). It also closes after a response that
// was sent before the end of the body: net/http would read the rest first, for which the client
// may wait.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*conn) //nolint:forcetypeassert // see New
	c.handling = true
	deadline := time.Now().Add(s.config.RequestTimeout)
	if r.Body != http.NoBody {
		c.due = deadline
	}
	switch {
	case r.ProtoMajor != 1 || r.ProtoMinor > 1: // net/http lets these, and the preface of HTTP/2, through
		c.turnAway(w, models.CodeVersionUnsupported)
		return
	case fields(r) > maxFields:
		r.Header = nil // frees its memory: the connection may drain for seconds
		c.turnAway(w, models.CodeHeaderTooLarge)
		return
	case c.slot == s.extra:
		c.turnAway(w, models.CodeUnavailable)
		return
	}
	header := w.Header()
	last := s.leaving.Load() || len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1)
	if last || r.Body != http.NoBody {
		header["Connection"] = s.closeField
	}
	ctx, cancel := context.WithDeadline(s.forced, deadline)
	defer cancel()
	in := r.WithContext(ctx) //nolint:contextcheck // the context of r ends when the client closes its half
	in.TLS = c.tls
	if r.Body != http.NoBody {
		_ = c.SetReadDeadline(deadline) // if it fails, so does Read
		c.body = body{ReadCloser: r.Body, conn: c, header: header, last: last}
		in.Body = &c.body
	}
	defer func() { // also after a panic
		c.body = body{} // an idle connection keeps no request
		if r.Close || header["Connection"] != nil || s.draining.Err() != nil {
			c.ending.Store(true)
		}
	}()
	s.config.Handler.ServeHTTP(w, in)
}

// fields returns the number of header fields of a request. net/http has removed some from the map.
func fields(r *http.Request) int {
	n := 1 + len(r.TransferEncoding) // and Host
	for _, values := range r.Header {
		n += len(values)
	}
	return n
}

// turnAway responds with the Error of a code, as the last response of the connection.
func (c *conn) turnAway(w http.ResponseWriter, code models.Code) {
	e := Refusal(code)
	maps.Copy(w.Header(), c.refused(e))
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(e.Body()) // a client that has gone needs no response
}

// A body is the body of a request. When it was read to its end, the connection is kept.
type body struct {
	io.ReadCloser

	conn   *conn
	header http.Header // of the response
	last   bool        // the connection closes in any case
}

// Read implements [io.Reader]. It always returns a time-out as such; net/http does not if only the
// very end of a chunked body is missing.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == nil:
	case err == io.EOF:
		b.conn.due = time.Time{}
		if !b.last && !b.conn.server.leaving.Load() {
			delete(b.header, "Connection")
		}
	case b.conn.timeout.Load():
		err = os.ErrDeadlineExceeded
	}
	return n, err
}
