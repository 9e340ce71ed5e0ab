package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2/hpack"

	"plantstore/models"
)

const (
	// maxStreams bounds the requests at a time of a connection of HTTP/2: as few
	// as RFC 9113, 6.5.2, recommends at least. For the memory that they take there
	// are so many times fewer of these connections than others.
	maxStreams = 100
	// windowTwo is how much of bodies may be on its way unread, on a stream and
	// on a connection: as little as HTTP/2 has at first (RFC 9113, 6.9.2).
	windowTwo = 1<<16 - 1
	// frameTwo bounds a frame that comes in: as little as HTTP/2 allows.
	frameTwo = 1 << 14
	// noTable keeps the headers of answers from referring to earlier ones, so
	// that [answerFilter] can replace one; 0 would mean the usual table.
	noTable = 1
)

// newServerTwo returns what speaks HTTP/2 on connections that are handed over. To
// it they look like plain ones: TLS is spoken already.
func (s *Server) newServerTwo() *http.Server {
	two := &http.Server{
		Handler:                      http.HandlerFunc(s.handleTwo),
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            s.http.ReadHeaderTimeout,
		ReadTimeout:                  s.http.ReadTimeout,
		WriteTimeout:                 s.http.WriteTimeout,
		IdleTimeout:                  s.http.IdleTimeout,
		MaxHeaderBytes:               s.config.MaxHeaderBytes,
		ErrorLog:                     s.http.ErrorLog,
		ConnContext:                  withConn,
		Protocols:                    new(http.Protocols),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReadFrameSize:              frameTwo,
			MaxReceiveBufferPerConnection: windowTwo,
			MaxReceiveBufferPerStream:     windowTwo,
			MaxEncoderHeaderTableSize:     noTable,
			WriteByteTimeout:              s.http.WriteTimeout,
		},
	}
	two.Protocols.SetUnencryptedHTTP2(true)
	return two
}

// A two is a connection on which net/http speaks HTTP/2. What HTTP/2 calls
// malformed is an error of the stream or of the connection (RFC 9113, 8.1.1), to
// which no answer belongs; the few requests that net/http answers by itself all
// the same have their answers replaced by an answerFilter.
type two struct {
	net.Conn // TLS

	conn   *conn // that has its place
	filter answerFilter
	leave  func()
	origin atomic.Pointer[string] // of the last request that had one

	mu       sync.Mutex // guards the following
	clock    blockClock
	deadline time.Time // of reading, by net/http
	applied  time.Time // the deadline that the connection itself has
}

func newTwo(c *conn) *two {
	t := &two{Conn: c.Conn, conn: c}
	t.filter = answerFilter{out: c.Conn, refusal: t.refusal}
	t.leave = sync.OnceFunc(func() {
		// It may take a while to say goodbye to a client that does not listen.
		c.server.lingering.Go(func() { _ = c.leave() })
	})
	return t
}

// Write implements [io.Writer].
func (t *two) Write(p []byte) (int, error) { return t.filter.Write(p) }

// Close implements [io.Closer]. It returns at once.
func (t *two) Close() error {
	t.leave()
	return nil
}

// remember keeps the origin of a request for answers of net/http's own to later ones,
// of which nothing is known: pages ask in a preflight before they send what may be
// refused so (C3.19).
func (t *two) remember(origin string) {
	if last := t.origin.Load(); origin != "" && (last == nil || *last != origin) {
		t.origin.Store(&origin)
	}
}

// handleTwo is the outermost handler of requests in HTTP/2. A request ends with
// its stream, unlike in HTTP/1, where the client may close its half of the
// connection and wait.
func (s *Server) handleTwo(w http.ResponseWriter, r *http.Request) {
	a := &answer{ResponseWriter: w, request: r}
	r.Context().Value(connKey{}).(*two).remember(requesterOf(r).origin) //nolint:forcetypeassert // withConn puts nothing else there
	if e := s.config.unfit(r); e != nil {
		s.refuseTwo(r.Context(), a, e)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.config.RequestTimeout)
	defer cancel()
	defer func() { s.recovered(ctx, a, recover()) }()
	s.config.Handler.ServeHTTP(a, r.WithContext(ctx))
}

// recovered answers for a handler that has panicked, if p is not nil.
func (s *Server) recovered(ctx context.Context, a *answer, p any) {
	switch {
	case p == nil:
	case a.begun:
		panic(p) // what was sent cannot be taken back: net/http resets the stream
	default:
		if p != http.ErrAbortHandler { //nolint:errorlint // the very value, as net/http compares it
			s.config.Logger.LogAttrs(ctx, slog.LevelError, "panic",
				slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
		}
		s.refuseTwo(ctx, a, s.config.refusal(models.CodeInternal))
	}
}

// unfit returns what is wrong with a request in HTTP/2 that net/http refuses in
// HTTP/1 only, or nil.
func (c Config) unfit(r *http.Request) *models.Error {
	lines := 0
	for _, values := range r.Header {
		lines += len(values)
	}
	switch {
	case lines > maxHeaderLines:
		return c.refusal(models.CodeHeaderTooLarge)
	case strings.Join(r.Header["Expect"], "") != "": // net/http has taken away 100-continue
		return c.refusal(models.CodeExpectationFailed)
	case r.Host == "" || !httpguts.ValidHostHeader(r.Host):
		return models.NewError(models.CodeBadRequest, ":authority: it must name the host of the URL, and perhaps a port")
	}
	return nil
}

// refuseTwo answers a request that no handler gets, or none has answered.
func (s *Server) refuseTwo(ctx context.Context, a *answer, e *models.Error) {
	to := requesterOf(a.request)
	to.id = cmp.Or(to.id, rand.Text())
	a.request.Header = nil // the client may let the answer wait, and thousands of fields with it
	s.log(ctx, e, to, a.request.RemoteAddr)
	body, _ := json.Marshal(e) // a number and a string of ours always encode
	clear(a.Header())
	maps.Copy(a.Header(), s.config.header(len(body), to))
	a.WriteHeader(http.StatusBadRequest)
	_, _ = a.Write(body) // net/http knows that HEAD gets none
}

// refusal returns the Error in place of an answer of net/http with that status and a
// body of that length.
func (t *two) refusal(status, length int) (header []hpack.HeaderField, body []byte) {
	e := models.NewError(models.CodeBadRequest, "drop HTTP/1.1 headers")
	if status == int(models.CodeHeaderTooLarge) {
		e = models.NewError(models.CodeHeaderTooLarge, "the header is too large")
	}
	body, _ = json.Marshal(e) // a number and a string of ours always encode
	body = append(body, bytes.Repeat([]byte(" "), max(0, length-len(body)))...)
	to := requester{id: rand.Text()}
	if origin := t.origin.Load(); origin != nil {
		to.origin = *origin
	}
	t.conn.server.log(context.Background(), e, to, t.RemoteAddr().String())
	header = []hpack.HeaderField{{Name: ":status", Value: strconv.Itoa(http.StatusBadRequest)}}
	for name, values := range t.conn.server.config.header(len(body), to) {
		for _, value := range values {
			header = append(header, hpack.HeaderField{Name: strings.ToLower(name), Value: value})
		}
	}
	return header, body
}
