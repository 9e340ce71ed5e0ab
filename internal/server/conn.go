package server

import (
	"context"
	"crypto/tls"
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

// stopGrace is how long a connection that has not been used yet is waited for
// when the server stops.
const stopGrace = 100 * time.Millisecond

// maxReadOn is how many bytes of a header that is too large are looked through
// for an Origin: what fits in a URL of the browsers, and more.
const maxReadOn = 4 << 20

// errNotNow is the error of reading beyond the request that is being handled.
var errNotNow = errors.New("the request has been read to its end")

// A conn is a connection on which net/http speaks to a client. While the handler
// has no request in hand, what net/http writes is a refusal of its own making,
// which conn replaces by an Error (C1.3), and when net/http closes without a
// word, conn says the last one. Bytes are never judged by what they look like:
// [conn.begin] and [conn.idle] tell whose they are.
type conn struct {
	net.Conn

	server   *Server
	stopping context.Context // done when the server stops
	uncut    func() bool     // ends the wait for the server to cut off what is left; nil if there is none
	place    chan struct{}   // gives one back when the connection leaves; nil if it has none
	two      bool            // it has a place among those of HTTP/2, too

	mu       sync.Mutex  // guards the following; never held while waiting for the client
	unwatch  func() bool // ends the wait for the server to stop; nil if none waits
	in       intake
	used     bool      // the client has sent something
	hurried  bool      // it had not when the server stopped
	resting  bool      // nothing has come since the last request
	parking  bool      // it is to be parked when net/http closes it
	timed    bool      // HeaderTimeout has begun for the current header
	handling bool      // the handler has the request in hand, or has answered it
	from     requester // of the request that is handled
	answered bool      // an answer to the current request has begun
	cut      bool      // what the client sends is no longer read
	closing  bool      // Close has been called
	readErr  error     // of the last attempt to read
	reading  bool      // an attempt to read goes on
	deadline time.Time // of reading
	applied  time.Time // the deadline that the connection itself has

	exchange exchange // of the current request
}

// begin is called when the handler gets the request r. It reports whether the
// length of r is in doubt.
func (c *conn) begin(r *http.Request) (doubtful bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handling, c.from = true, requesterOf(r)
	return c.in.begin(r)
}

// idle is called when net/http is done with a request and awaits the next.
func (c *conn) idle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handling, c.answered, c.timed, c.readErr = false, false, false, nil
	// A rest of a body must not be taken for a request.
	c.cut = c.cut || !c.in.end()
	c.resting = !c.cut && !c.in.waiting()
}

// stopReading makes net/http see the end of the input, so that it does not wait
// for the rest of a body before it closes the connection.
func (c *conn) stopReading() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
}

// timedOut reports whether the last attempt to read took too long.
func (c *conn) timedOut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Is(c.readErr, os.ErrDeadlineExceeded)
}

// Read implements [io.Reader]. Nothing of a header of too many lines is for
// net/http, which would spend memory on each, nor what follows one that is refused:
// bufio swallows an error where a line may be continued, and reads again.
func (c *conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	refused := c.readErr
	c.mu.Unlock()
	if malformed(refused) {
		return 0, refused
	}
	n, err := c.read(p)
	if errors.Is(err, errManyLines) {
		n = 0
	}
	return n, err
}

// malformed reports whether err is that of a header which is refused as it is.
func malformed(err error) bool {
	return err != nil && (errors.Is(err, errManyLines) || errors.Is(err, errNotHTTP) || errors.Is(err, errFolded))
}

// read is [conn.Read], but of a header of too many lines it tells how much it has
// looked through, and it goes on after that.
func (c *conn) read(p []byte) (int, error) {
	if n, err := c.beforeRead(p); n > 0 || err != nil {
		return n, err
	}
	n, err := c.Conn.Read(p)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	if c.closing {
		c.in.kept = append(c.in.kept, p[:n]...) // for lastCall
		return 0, net.ErrClosed
	}
	if c.restedEnough(err) {
		c.parking = true
		return 0, io.EOF
	}
	if n > 0 {
		c.resting = false
		if !c.used {
			c.used = true
			c.forget()
		}
		n, err = c.in.admit(p, n)
	}
	c.readErr = err
	return n, err
}

// beforeRead delivers what was held back by earlier reads, if anything. Otherwise,
// unless there is an error, the connection is to be read from.
func (c *conn) beforeRead(p []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing:
		return 0, net.ErrClosed
	case c.cut:
		return 0, io.EOF
	case c.handling && c.in.body == 0:
		// net/http listens for the client to hang up while the handler works,
		// which changes nothing here, and is expensive to call off.
		return 0, errNotNow
	case len(c.in.kept) > 0:
		n, c.readErr = c.in.release(p)
		return n, c.readErr
	}
	switch {
	case c.hurried && !c.used:
		// net/http may just have given it HeaderTimeout.
		c.deadline = time.Now().Add(stopGrace)
	case c.in.head().begun && !c.in.head().done && !c.handling && !c.timed:
		// net/http lets the first four bytes of a next request take IdleTimeout.
		c.timed = true
		c.deadline = time.Now().Add(c.server.config.HeaderTimeout)
	}
	c.reading = true
	if c.resting {
		return 0, c.rest()
	}
	return 0, c.applyDeadline()
}

// SetReadDeadline implements [net.Conn]. net/http sets half a dozen for each
// request; only the one that is in force when it comes to reading costs anything.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	if !c.reading {
		return nil
	}
	return c.applyDeadline()
}

// applyDeadline makes the deadline that of the connection itself.
func (c *conn) applyDeadline() error {
	if c.applied.Equal(c.deadline) {
		return nil
	}
	c.applied = c.deadline
	return c.Conn.SetReadDeadline(c.deadline)
}

// Write implements [io.Writer].
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	first := !c.answered
	switch {
	case c.closing:
		c.mu.Unlock()
		return 0, net.ErrClosed
	case c.handling:
		c.answered = c.answered || string(p) != "HTTP/1.1 100 Continue\r\n\r\n"
		c.mu.Unlock()
		return c.Conn.Write(p)
	}
	c.answered = true
	refusal := c.refusal(p)
	c.mu.Unlock()

	if first {
		if err := c.say(refusal, c.refused(refusal.Code)); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// refused returns whom net/http has refused with that code. When a header is too
// large, the Origin may stand beyond what has been read, and without it no page
// could read the refusal (C3.19).
func (c *conn) refused(code models.Code) requester {
	left := 0
	if code == models.CodeHeaderTooLarge && c.server.config.CORSHeader != nil {
		left = maxReadOn
	}
	for buffer := make([]byte, min(left, 4<<10)); ; {
		c.mu.Lock()
		head := c.in.head()
		from, whole := head.requester(), head.done
		c.mu.Unlock()
		if whole || from.origin != "" || left <= 0 {
			return from
		}
		n, err := c.read(buffer)
		if left -= n; err != nil && !errors.Is(err, errManyLines) {
			left = 0
		}
	}
}

// refusal returns the Error that takes the place of the refusal p of net/http,
// for which a header that breaks off looks like any other bad one.
func (c *conn) refusal(p []byte) *models.Error {
	if c.readErr != nil {
		if e := c.brokenOff(); e != nil {
			return e
		}
	}
	const version = len("HTTP/1.1 ")
	status := 0
	if len(p) >= version+3 {
		status, _ = strconv.Atoi(string(p[version : version+3]))
	}
	return c.server.config.refusal(models.Code(status))
}

// brokenOff returns what to say about a header that could not be read to its
// end, or nil if the connection is lost and there is nobody to say it to.
func (c *conn) brokenOff() *models.Error {
	slow := errors.Is(c.readErr, os.ErrDeadlineExceeded)
	switch {
	case c.readErr == nil, slow && c.hurried: // net/http gives up because it stops
		return c.server.config.refusal(models.CodeUnavailable)
	case slow:
		return c.server.config.refusal(models.CodeRequestTimeout)
	case errors.Is(c.readErr, io.EOF):
		return cutShort()
	case errors.Is(c.readErr, errManyLines):
		return c.server.config.refusal(models.CodeHeaderTooLarge)
	case errors.Is(c.readErr, errFolded):
		return folded()
	case errors.Is(c.readErr, errNotHTTP):
		return c.server.config.refusal(models.CodeBadRequest)
	}
	return nil
}

// lastWord returns what is still to be said when the connection is closed, or
// nil if the client has its answer or asked nothing.
func (c *conn) lastWord() *models.Error {
	switch {
	case c.answered:
		return nil
	case c.handling:
		return c.server.config.refusal(models.CodeInternal)
	case c.in.waiting():
		return c.brokenOff()
	}
	return nil
}

// CloseWrite is called by net/http when it has written its last and is about to
// close. There is nothing to wait for before that.
func (c *conn) CloseWrite() error { return c.Close() }

// Close implements [io.Closer]. It returns at once. If there is an answer that
// the client may not have read, the connection lives on for a while behind the
// back of net/http, see [conn.lingerOn].
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil
	}
	c.closing = true
	if c.parking {
		c.park()
		return nil
	}
	c.forget()
	word, from := c.lastWord(), c.from
	if !c.handling {
		from = c.in.head().requester()
	}
	if word == nil && !c.answered && !c.cut {
		if c.used && c.readErr == nil && c.stopping.Err() != nil && c.server.cut.Err() == nil {
			c.server.lingering.Go(c.lastCall)
			return nil
		}
		if _, secure := c.Conn.(*tls.Conn); secure { // which takes a while if the client does not listen
			c.server.lingering.Go(func() { _ = c.leave() })
			return nil
		}
		return c.leave()
	}
	c.server.lingering.Go(func() { c.lingerOn(word, from, c.server.linger) })
	return nil
}

// watch waits for the server to stop.
func (c *conn) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unwatch = context.AfterFunc(c.stopping, c.hurry)
}

// forget ends the wait for the server to stop, and drops what it costs. The caller
// holds c.mu.
func (c *conn) forget() {
	if c.unwatch != nil {
		c.unwatch()
		c.unwatch = nil
	}
}

// hurry is called when the server stops and the client has not sent anything yet.
// net/http would wait some seconds for it. What has come but has not been read
// is answered still.
func (c *conn) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.used && !c.closing {
		c.hurried = true
		c.deadline = time.Now().Add(stopGrace)
		_ = c.applyDeadline() // it fails if the connection is gone
	}
}

// connKey is the key of the context value that is the request's *conn.
type connKey struct{}

func withConn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, nc)
}

// connState tells the connection where it is. Of the states of net/http only
// this one comes at a time that means something here: all of an answer has been
// written, and nothing of the next request has been read by its parser.
func connState(nc net.Conn, state http.ConnState) {
	if c, ok := nc.(*conn); ok && state == http.StateIdle {
		c.idle()
	}
}
