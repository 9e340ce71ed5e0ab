package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"

	"plantstore/models"
)

const (
	// rejectTime is the time for the header on a connection beyond the limit, and again for
	// reading the response.
	rejectTime = time.Second
	// defaultLinger is how long a connection stays open after its last response, unless its client
	// closes it, and maxDiscarded the number of bytes that are read in that time.
	defaultLinger = 10 * time.Second
	maxDiscarded  = 256 << 20
	// drainGrace is how long a connection without a request stays open when the
	// shutdown begins.
	drainGrace = 100 * time.Millisecond
	// drainLinger is how long a connection lingers after the shutdown has begun: as long
	// as net/http gives a client to read its response.
	drainLinger = 500 * time.Millisecond
	// lastWriteTime is the time for writing the last response, possibly in addition to
	// ShutdownTimeout.
	lastWriteTime = time.Second
)

// An acceptedConn is a connection with its slots of the connection limit. [conn] and
// [http2Conn] add a version of HTTP.
type acceptedConn struct {
	net.Conn // TLS after the handshake

	server    *Server
	slot      semaphore // of the connection limit; nil: none
	http2Slot semaphore // of the limit for HTTP/2; nil: none
}

// withinLimit reports whether c has a regular slot of the connection limit.
func (c *acceptedConn) withinLimit() bool { return c.slot == c.server.limit.regular }

// firstTime returns the time for a handshake, and for the header of a request to reject.
func (c *acceptedConn) firstTime() time.Duration {
	if c.withinLimit() {
		return c.server.config.HeaderTimeout
	}
	return rejectTime
}

// rejectOverLimit responds on a connection beyond the connection limit. It spends no more
// on it than a goroutine and a buffer.
func (c *acceptedConn) rejectOverLimit() {
	c.reject(c.server.config.overloaded(), func() []byte { return nil })
}

// reject responds to the next request with e and closes the connection. It first waits for
// the header, and not for long at a shutdown: clients take a response without a request for a
// broken connection. pending returns input that was already read.
func (c *acceptedConn) reject(e *models.Error, pending func() []byte) {
	wait := c.firstTime()
	_ = c.Conn.SetReadDeadline(time.Now().Add(wait)) // if it fails, so does Read
	stop := context.AfterFunc(c.server.draining, func() {
		_ = c.Conn.SetReadDeadline(time.Now().Add(min(wait, drainGrace)))
	})
	var h header
	h.readRest(pending(), io.LimitReader(c.Conn, maxHeaderBytes), func() bool { return false })
	if !h.begun { // a read of net/http was in progress, and may have received the input
		_, _ = h.scan(pending())
	}
	stop()
	if h.begun {
		c.lingerOn(e, h.recipient())
		return
	}
	_ = c.release()
}

// lingerOn responds with e, if not nil, and closes the connection when the client has
// closed its half. Until then it discards input: closing a connection with unread input
// resets it, and the client would lose the response (RFC 9112, 9.6).
func (c *acceptedConn) lingerOn(e *models.Error, to recipient) {
	defer func() { _ = c.release() }()
	if e != nil {
		_ = c.SetWriteDeadline(time.Now().Add(lastWriteTime))
		if err := c.respond(e, to); err != nil {
			return
		}
	}
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	defer context.AfterFunc(c.server.forced, c.closeNetwork)()
	defer context.AfterFunc(c.server.draining, func() { time.AfterFunc(drainLinger, c.closeNetwork) })()
	wait := c.server.linger
	if !c.withinLimit() {
		wait = rejectTime
	}
	c.discard(wait)
}

// respond writes e as the last response of an HTTP/1 connection, to HEAD without a body.
func (c *acceptedConn) respond(e *models.Error, to recipient) error {
	header, body := c.server.refuse(context.Background(), e, to, c.RemoteAddr().String())
	header.Set("Connection", "close")
	response := bytes.NewBufferString("HTTP/1.1 400 Bad Request\r\n")
	_ = header.Write(response) // a buffer does not fail
	response.WriteString("\r\n")
	if !to.head {
		response.Write(body)
	}
	_, err := c.Conn.Write(response.Bytes())
	return err
}

// discard reads until the client has closed its half, or a limit is reached.
func (c *acceptedConn) discard(wait time.Duration) {
	_ = c.Conn.SetReadDeadline(time.Now().Add(wait)) // if this fails, so does Read
	_, _ = io.Copy(io.Discard, io.LimitReader(c.Conn, maxDiscarded))
}

// release closes the underlying connection and releases its slots. It must be called only
// once.
func (c *acceptedConn) release() error {
	stop := context.AfterFunc(c.server.forced, c.closeNetwork)
	err := c.Conn.Close()
	stop()
	c.http2Slot.release()
	c.slot.release()
	return err
}

// closeNetwork closes the connection below TLS: closing TLS may take seconds if the client does
// not read.
func (c *acceptedConn) closeNetwork() {
	if secure, ok := c.Conn.(*tls.Conn); ok {
		_ = secure.NetConn().Close()
		return
	}
	_ = c.Conn.Close()
}
