package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"plantstore/models"
)

// maxScanned bounds the input that is scanned for an Origin after a header was refused as too
// large: more than the longest URL of a browser.
const maxScanned = 4 << 20

// errHandling is the error of a read while the handler runs and the request was read completely.
var errHandling = errors.New("the request has been read to its end")

// A conn is an HTTP/1 connection between net/http and the client. A write of net/http
// outside of a handler call is an error response of its own, which conn
// replaces with an Error (C1.3). If net/http closes without a response, conn sends one.
// Whether a response is the handler's is not decided by its contents: [conn.startRequest] and
// [endRequest] mark it.
type conn struct {
	*acceptedConn

	base context.Context // of its requests, with its local address; not canceled when the client closes

	mu         sync.Mutex // guards the following; not held while waiting for the client
	framing    framing
	idle       bool      // no bytes were received since the last request
	parking    bool      // the connection is parked when net/http closes it
	headerEnd  time.Time // deadline of the current header; zero: it has not begun, and is not the first
	handling   bool      // whether the handler has, or had, the request
	to         recipient // of the request that is handled
	responded  bool      // a response to the current request has begun
	discarding bool      // whether net/http gets no more input
	closed     bool      // Close was called
	readErr    error     // of the last read
	reading    bool      // a read is in progress
	deadline   time.Time // of reads
	applied    time.Time // the deadline of the underlying connection
}

// startRequest is called when the handler gets r. It reports whether the length of r is
// ambiguous.
func (c *conn) startRequest(r *http.Request) (ambiguous bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handling, c.to = true, recipientOf(r)
	return c.framing.startBody(r)
}

// endRequest is the ConnState hook of net/http. StateIdle is the only state at a useful
// time: the response was written completely, and the next request was not parsed.
func endRequest(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*conn)
	if !ok || state != http.StateIdle {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handling, c.responded, c.headerEnd, c.readErr = false, false, time.Time{}, nil
	// The rest of a body must not be parsed as a request.
	c.discarding = !c.framing.endBody() || c.discarding
	c.idle = !c.discarding && !c.framing.begun()
}

// discardInput makes net/http see the end of the input, so that it closes the connection
// without waiting for the rest of a body.
func (c *conn) discardInput() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.discarding = true
}

// timedOut reports whether the last read took too long.
func (c *conn) timedOut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Is(c.readErr, os.ErrDeadlineExceeded)
}

// Read implements [io.Reader]. After an invalid header it keeps returning the error: bufio
// ignores an error where a line might be continued, and reads again. A header of too many
// lines is withheld from net/http, which would allocate memory for each.
func (c *conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	last := c.readErr
	c.mu.Unlock()
	if _, invalid := errors.AsType[*models.Error](last); invalid {
		return 0, last
	}
	n, body, err := c.beforeRead(p)
	if n == 0 && err == nil {
		n, err = c.receive(p, body)
	}
	if errors.Is(err, errHeaderTooLarge) {
		n = 0
	}
	return n, err
}

// receive reads from the client, perhaps a body.
func (c *conn) receive(p []byte, body bool) (int, error) {
	if body { // do not wait for it any longer when bodies must be complete
		defer context.AfterFunc(c.server.bodyTime, func() { _ = c.SetReadDeadline(time.Now()) })()
	}
	n, err := c.Conn.Read(p)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	if c.closed {
		c.framing.pending = append(c.framing.pending, p[:n]...) // for rejectAtShutdown
		return 0, net.ErrClosed
	}
	if c.parkable(err) {
		c.parking = true
		return 0, io.EOF
	}
	if n > 0 {
		c.idle = false
		n, err = c.framing.admit(p, n)
	}
	c.readErr = err
	return n, err
}

// beforeRead returns pending input, if there is any. Otherwise, unless it returns an
// error, it prepares for a read of the underlying connection, perhaps of a body.
func (c *conn) beforeRead(p []byte) (n int, body bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return 0, false, net.ErrClosed
	case c.discarding:
		return 0, false, io.EOF
	case c.handling && c.framing.body == 0:
		// net/http reads to detect a disconnected client, which has no effect here. Returning an
		// error at once saves it from canceling the read after the request.
		return 0, false, errHandling
	case len(c.framing.pending) > 0:
		n, c.readErr = c.framing.release(p)
		return n, false, c.readErr
	}
	if h := c.framing.header(); (h.begun || !c.headerEnd.IsZero()) && !h.done && !c.handling {
		// net/http allows IdleTimeout for the first four bytes of a further request.
		if c.headerEnd.IsZero() {
			c.headerEnd = time.Now().Add(c.server.config.HeaderTimeout)
		}
		c.deadline = c.headerEnd
	}
	c.reading = true
	return 0, c.handling, c.applyDeadline(c.idleDeadline())
}

// idleDeadline returns the deadline of the next read: the one of net/http, or earlier if the
// connection is idle and is to be parked. The caller holds c.mu.
func (c *conn) idleDeadline() time.Time {
	parked := time.Now().Add(c.server.parkAfter)
	if c.idle && (c.deadline.IsZero() || parked.Before(c.deadline)) {
		return parked
	}
	return c.deadline
}

// parkable reports whether the connection is to be parked after a read that returned err.
// The caller holds c.mu.
func (c *conn) parkable(err error) bool {
	return c.idle && errors.Is(err, os.ErrDeadlineExceeded) && c.applied != c.deadline && c.server.draining.Err() == nil
}

// SetReadDeadline implements [net.Conn]. net/http sets several deadlines for each request,
// of which only the one at the time of a read is passed on.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	if !c.reading {
		return nil
	}
	return c.applyDeadline(t)
}

// applyDeadline sets the deadline of the underlying connection.
func (c *conn) applyDeadline(t time.Time) error {
	if c.applied.Equal(t) {
		return nil
	}
	c.applied = t
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	first := !c.responded
	switch {
	case c.closed:
		c.mu.Unlock()
		return 0, net.ErrClosed
	case c.handling:
		c.responded = c.responded || string(p) != "HTTP/1.1 100 Continue\r\n\r\n"
		c.mu.Unlock()
		return c.Conn.Write(p)
	}
	c.responded = true
	e := c.replacement(p)
	c.mu.Unlock()

	if first {
		if err := c.respond(e, c.recipient(e.Code)); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// replacement returns the Error in place of net/http's own response p. The reason may be
// a cause that net/http does not distinguish, such as a header that ended early.
func (c *conn) replacement(p []byte) *models.Error {
	if c.readErr != nil {
		if e := c.readError(); e != nil {
			return e
		}
	}
	const version = len("HTTP/1.1 ")
	status := 0
	if len(p) >= version+3 {
		status, _ = strconv.Atoi(string(p[version : version+3]))
	}
	return Refusal(models.Code(status))
}

// readError returns the Error for a header that could not be read completely, nil if the
// connection is lost.
func (c *conn) readError() *models.Error {
	if e, ok := errors.AsType[*models.Error](c.readErr); ok {
		return e
	}
	switch {
	case c.readErr == nil: // net/http closes it at a shutdown
		return Refusal(models.CodeUnavailable)
	case errors.Is(c.readErr, os.ErrDeadlineExceeded):
		return c.server.config.slowHeader()
	case errors.Is(c.readErr, io.EOF):
		return errTruncated
	}
	return nil
}

// recipient returns the recipient of net/http's own response with that code. If a header
// is too large, the Origin may be in the part that was not read, and without it no page
// could read the response (C3.19).
func (c *conn) recipient(code models.Code) recipient {
	c.mu.Lock()
	h, pending := *c.framing.header(), c.framing.pending
	c.mu.Unlock()
	if code == models.CodeHeaderTooLarge && c.server.config.CORSHeader != nil && !h.done {
		h.readRest(pending, io.LimitReader(c.Conn, maxScanned), func() bool { return len(h.origins) > 0 })
	}
	return h.recipient()
}

// connKey is the key of the context value that is the connection of a request.
type connKey struct{}

// withConn is the ConnContext hook of net/http.
func withConn(ctx context.Context, nc net.Conn) context.Context {
	if c, ok := nc.(*conn); ok {
		c.base = context.WithValue(ctx, http.LocalAddrContextKey, nc.LocalAddr())
	}
	return context.WithValue(ctx, connKey{}, nc)
}
