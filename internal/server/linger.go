package server

import (
	"context"
	"crypto/tls"
	"time"

	"plantstore/models"
)

const (
	// lastWriteTime is the time for writing the last response, possibly in addition to
	// ShutdownTimeout.
	lastWriteTime = time.Second
	// drainLinger is how long a connection lingers after the shutdown has begun: as long
	// as net/http gives a client to read its response.
	drainLinger = 500 * time.Millisecond
)

// lingerOn responds with e, if not nil, and closes the connection when the client has
// closed its half. Until then it discards input: closing a connection with unread input
// resets it, and the client would lose the response (RFC 9112, 9.6).
func (c *conn) lingerOn(e *models.Error, to recipient, limits lingerLimits) {
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
	c.discard(limits)
}

// discard reads until the client has closed its half, or a limit is reached.
func (c *conn) discard(limits lingerLimits) {
	end := time.Now().Add(limits.total)
	buffer := make([]byte, 8<<10)
	for limits.bytes > 0 {
		deadline := time.Now().Add(limits.stall)
		if deadline.After(end) {
			deadline = end
		}
		_ = c.Conn.SetReadDeadline(deadline) // if this fails, so does Read
		n, err := c.Conn.Read(buffer)
		if err != nil {
			return
		}
		limits.bytes -= int64(n)
	}
}

// release closes the underlying connection and releases its slots. It must be called only
// once.
func (c *conn) release() error {
	stop := context.AfterFunc(c.server.forced, c.closeNetwork)
	err := c.Conn.Close()
	stop()
	c.http2Slot.release()
	c.slot.release()
	return err
}

// closeNetwork closes the connection below TLS: closing TLS may take seconds if the client does
// not read.
func (c *conn) closeNetwork() {
	if secure, ok := c.Conn.(*tls.Conn); ok {
		_ = secure.NetConn().Close()
		return
	}
	_ = c.Conn.Close()
}
