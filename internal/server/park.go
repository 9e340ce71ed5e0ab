package server

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// defaultParkAfter is how long a connection is idle before it is parked: so long that a
// connection in use, to which it would cost 0.1 ms, is not.
const defaultParkAfter = time.Second

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
	return c.idle && errors.Is(err, os.ErrDeadlineExceeded) && c.applied != c.deadline && c.draining.Err() == nil
}

// park keeps a connection open that net/http has closed. net/http would need 18 KB for it:
// two buffers, and the stack of a goroutine that has served a request. It gets the
// connection back as a new one with the next request. The caller holds c.mu.
func (c *conn) park() {
	next := &conn{
		Conn: c.Conn, server: c.server, draining: c.draining, slot: c.slot, deadline: c.deadline,
		received: true, timed: true,
	}
	c.server.counters.parked.Add(1)
	c.server.background.Go(next.awaitRequest)
}

// awaitRequest waits for the first byte of a request and passes the connection to net/http.
// If none is received, it closes the connection.
func (c *conn) awaitRequest() {
	first := make([]byte, 1)
	_ = c.Conn.SetReadDeadline(c.deadline) // if it fails, so does Read
	stop := context.AfterFunc(c.draining, func() { _ = c.Conn.SetReadDeadline(time.Now().Add(drainGrace)) })
	n, _ := c.Conn.Read(first)
	stop()
	c.server.counters.parked.Add(-1)
	if n == 0 {
		_ = c.release()
		return
	}
	c.framing.pending = first
	ln := &singleListener{conn: c, address: c.LocalAddr()}
	_ = c.server.http1.Serve(ln) // returns at once: there is no second connection, or it shuts down
	if ln.conn != nil {
		c.rejectAtShutdown()
	}
}

// A singleListener is a [net.Listener] that accepts one connection.
type singleListener struct {
	conn    net.Conn
	address net.Addr
}

// Accept implements [net.Listener].
func (l *singleListener) Accept() (net.Conn, error) {
	c := l.conn
	if l.conn = nil; c == nil {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements [net.Listener].
func (*singleListener) Close() error { return nil }

// Addr implements [net.Listener].
func (l *singleListener) Addr() net.Addr { return l.address }
