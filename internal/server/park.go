package server

import (
	"context"
	"net"
	"net/http"
	"time"

	"plantstore/models"
)

// defaultParkAfter is the idle time after which a connection is parked. Parking costs the next
// request 0.1 ms, so connections in use should not be parked.
const defaultParkAfter = time.Second

// park keeps a connection open that net/http has closed. net/http would need 18 KB for it:
// two buffers, and the stack of a goroutine that has served a request. It gets the
// connection back as a new one with the next request. The caller holds c.mu.
func (c *conn) park() {
	next, until := &conn{acceptedConn: c.acceptedConn}, c.deadline
	c.server.background.Go(func() { next.awaitRequest(until) })
}

// begin serves HTTP/1 on a new connection. Its first header has HeaderTimeout from now on.
func (c *acceptedConn) begin() {
	first := &conn{acceptedConn: c, headerEnd: time.Now().Add(c.server.config.HeaderTimeout)}
	first.awaitRequest(first.headerEnd)
}

// awaitRequest waits for the first byte of a request and passes the connection to net/http. An
// idle one is kept from net/http, whose shutdown would wait seconds for it. If no byte is
// received until the deadline, it closes the connection.
func (c *conn) awaitRequest(deadline time.Time) {
	c.server.counters.waiting.Add(1)
	first := make([]byte, 1)
	_ = c.Conn.SetReadDeadline(deadline) // if it fails, so does Read
	stop := context.AfterFunc(c.server.draining, func() { _ = c.Conn.SetReadDeadline(time.Now().Add(drainGrace)) })
	n, _ := c.Conn.Read(first)
	stop()
	c.server.counters.waiting.Add(-1)
	if n == 0 {
		_ = c.release()
		return
	}
	c.framing.pending = first
	if !serveConn(c.server.http1, c) {
		c.rejectAtShutdown()
	}
}

// rejectAtShutdown closes an idle connection at a shutdown. It responds to a request that
// the client has sent before it could notice.
func (c *conn) rejectAtShutdown() {
	c.reject(Refusal(models.CodeUnavailable), func() []byte {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.framing.pending
	})
}

// serveConn passes c to a server of net/http, unless that one is shutting down.
func serveConn(s *http.Server, c net.Conn) (served bool) {
	l := &singleListener{conn: c}
	_ = s.Serve(l) // returns at once: there is no second connection, or it shuts down
	return l.accepted
}

// A singleListener is a [net.Listener] that accepts one connection.
type singleListener struct {
	conn     net.Conn
	accepted bool
}

func (l *singleListener) Accept() (net.Conn, error) {
	if l.accepted {
		return nil, net.ErrClosed
	}
	l.accepted = true
	return l.conn, nil
}

func (*singleListener) Close() error { return nil }

func (l *singleListener) Addr() net.Addr { return l.conn.LocalAddr() }
