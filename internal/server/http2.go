package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"plantstore/models"
)

// windowSize bounds the unread bytes of bodies on a stream and on a connection: the initial
// value of HTTP/2 (RFC 9113, 6.9.2).
const windowSize = 1<<16 - 1

// http2Config returns the limits of HTTP/2.
func (s *Server) http2Config() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          maxStreams,
		MaxReadFrameSize:              maxFrame,
		MaxReceiveBufferPerConnection: windowSize,
		MaxReceiveBufferPerStream:     windowSize,
		MaxEncoderHeaderTableSize:     noTable,
		WriteByteTimeout:              s.http1.WriteTimeout,
	}
}

// An http2Conn is a connection of HTTP/2 between net/http and the client. Malformed requests
// are errors of the stream or the connection, without a response (RFC 9113, 8.1.1). For a
// few requests net/http has a response of its own, which a responseFilter replaces.
type http2Conn struct {
	*acceptedConn

	filter  responseFilter
	closing sync.Once
	origin  atomic.Pointer[string] // of the last request that had one
	clock   frameClock
	applied time.Time // the deadline of reads
}

func newHTTP2Conn(c *acceptedConn) *http2Conn {
	h := &http2Conn{acceptedConn: c, clock: frameClock{since: time.Now()}}
	h.filter = responseFilter{out: c.Conn, replace: h.replace}
	return h
}

func (h *http2Conn) Write(p []byte) (int, error) { return h.filter.Write(p) }

// Close implements [io.Closer]. It returns at once.
func (h *http2Conn) Close() error {
	h.closing.Do(func() {
		h.server.background.Go(func() { _ = h.release() }) // it blocks if the client does not read
	})
	return nil
}

// Read implements [io.Reader]. The first frame, and later each header block and each frame other
// than DATA that has begun, must be complete within HeaderTimeout.
func (h *http2Conn) Read(p []byte) (int, error) {
	var deadline time.Time
	if !h.clock.since.IsZero() {
		deadline = h.clock.since.Add(h.server.config.HeaderTimeout)
	}
	if !deadline.Equal(h.applied) {
		h.applied = deadline
		if err := h.Conn.SetReadDeadline(deadline); err != nil {
			return 0, err
		}
	}
	n, err := h.Conn.Read(p)
	h.clock.follow(p[:n], time.Now())
	return n, err
}

// SetReadDeadline implements [net.Conn]. net/http sets deadlines only until the first frame, for
// which Read has one.
func (h *http2Conn) SetReadDeadline(time.Time) error { return nil }

// setOrigin remembers the origin of a request for net/http's own responses to later ones,
// which are not visible here: before a page sends such a request, it sends a preflight
// (C3.19).
func (h *http2Conn) setOrigin(origin string) {
	if last := h.origin.Load(); origin != "" && (last == nil || *last != origin) {
		h.origin.Store(&origin)
	}
}

// replace returns the Error in place of a response of net/http with that status and a body
// of that length.
func (h *http2Conn) replace(status, length int) (header http.Header, body []byte) {
	// The messages are short: a body must not be longer than the one of net/http that it replaces.
	e := models.NewError(models.CodeBadRequest, "drop HTTP/1.1 headers")
	if status == int(models.CodeHeaderTooLarge) { // RFC 9113, section 6.5.2, counts 32 bytes more for each field
		e = models.Errorf(models.CodeHeaderTooLarge, "the header is more than %d bytes", maxHeaderBytes)
	}
	var to recipient
	if origin := h.origin.Load(); origin != nil {
		to.origin = *origin
	}
	header, body = h.server.refuse(context.Background(), e, to, h.RemoteAddr().String())
	padding := bytes.Repeat([]byte(" "), max(0, length-len(body)))
	body = slices.Insert(body, len(body)-1, padding...) // the newline stays last (C1.2)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	return header, body
}

// handleHTTP2 is the outermost handler in HTTP/2. A request ends with its stream; in HTTP/1
// a client may close its half and wait for the response.
func (s *Server) handleHTTP2(w http.ResponseWriter, r *http.Request) {
	out := &response{ResponseWriter: w, server: s, request: r}
	r.Context().Value(connKey{}).(*http2Conn).setOrigin(recipientOf(r).origin) //nolint:forcetypeassert // see withConn
	if e := s.config.checkHTTP2(r); e != nil {
		s.respondHTTP2(r.Context(), out, e, recipientOf(r))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.config.RequestTimeout)
	defer cancel()
	defer func() { s.recovered(ctx, out, recover()) }()
	in := r.WithContext(ctx)
	in.Body = http2Body{r.Body, out}
	s.config.Handler.ServeHTTP(out, in)
}

// An http2Body is a request body whose reads don't wait any longer when bodies must be complete.
type http2Body struct {
	io.ReadCloser

	writer *response // of the request
}

// Read implements [io.Reader].
func (b http2Body) Read(p []byte) (int, error) {
	ended := make(chan struct{})
	stop := context.AfterFunc(b.writer.server.bodyTime, func() {
		defer close(ended)
		_ = b.writer.controller().SetReadDeadline(time.Now())
	})
	n, err := b.ReadCloser.Read(p)
	if !stop() {
		<-ended // the writer must not be used after the handler has returned
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = b.writer.server.lateBody()
	}
	return n, err
}

// checkHTTP2 returns the Error for a request that net/http refuses in HTTP/1 only, or nil.
func (c Config) checkHTTP2(r *http.Request) *models.Error {
	fields := 0
	for _, values := range r.Header {
		fields += len(values)
	}
	switch {
	case fields > maxHeaderLines:
		return Refusal(models.CodeHeaderTooLarge)
	case strings.Join(r.Header["Expect"], "") != "": // net/http has removed 100-continue
		return Refusal(models.CodeExpectationFailed)
	case r.Host == "" || !httpguts.ValidHostHeader(r.Host):
		return models.NewError(models.CodeBadRequest, ":authority: it must name the host of the URL, and perhaps a port")
	}
	return nil
}

// recovered responds for a handler that has panicked with p, unless p is nil.
func (s *Server) recovered(ctx context.Context, w *response, p any) {
	switch {
	case p == nil:
	case w.begun:
		panic(p) // net/http resets the stream
	default:
		if p != http.ErrAbortHandler { //nolint:errorlint // the very value, as net/http compares it
			s.config.Logger.LogAttrs(ctx, slog.LevelError, "panic",
				slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
		}
		s.respondHTTP2(ctx, w, Refusal(models.CodeInternal), recipientOf(w.request))
	}
}

// respondHTTP2 responds with e instead of the handler.
func (s *Server) respondHTTP2(ctx context.Context, w *response, e *models.Error, to recipient) {
	w.request.Header = nil // frees its memory: the client may not read the response for a while
	header, body := s.refuse(ctx, e, to, w.request.RemoteAddr)
	clear(w.Header())
	maps.Copy(w.Header(), header)
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(body) // net/http drops it for HEAD
}
