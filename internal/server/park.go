package server

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// defaultParkAfter is how long a connection may be idle before it is parked: so long
// that one in use never is, which costs some 0.1 ms.
const defaultParkAfter = time.Second

// rest is applyDeadline for a connection that is idle.
func (c *conn) rest() error {
	enough := time.Now().Add(c.server.parkAfter)
	if enough.After(c.deadline) && !c.deadline.IsZero() {
		return c.applyDeadline()
	}
	c.applied = enough
	return c.Conn.SetReadDeadline(enough)
}

// restedEnough reports whether an attempt to read that has returned err makes the
// connection one to park. The caller holds c.mu.
func (c *conn) restedEnough(err error) bool {
	return c.resting && errors.Is(err, os.ErrDeadlineExceeded) && c.applied != c.deadline && c.stopping.Err() == nil
}

// park keeps the connection without net/http, which has closed it and would need 18 KB
// for it: two buffers, and the stack of a goroutine that has served a request. With the
// next request net/http gets it as a new one. The caller holds c.mu.
func (c *conn) park() {
	c.uncut()
	c.exchange.term.release()
	next := &conn{
		Conn: c.Conn, server: c.server, stopping: c.stopping, place: c.place, deadline: c.deadline,
		used: true, timed: true,
	}
	c.server.counted.parked.Add(1)
	c.server.lingering.Go(next.awaitRequest)
}

// awaitRequest waits for the first byte of a request, and gives the connection to
// net/http. If none comes, the connection ends.
func (c *conn) awaitRequest() {
	first := c.in.small[:1]
	_ = c.Conn.SetReadDeadline(c.deadline) // if it fails, so does Read
	unhurried := context.AfterFunc(c.stopping, func() { _ = c.Conn.SetReadDeadline(time.Now().Add(stopGrace)) })
	n, _ := c.Conn.Read(first)
	unhurried()
	c.server.counted.parked.Add(-1)
	if n == 0 {
		_ = c.leave()
		return
	}
	c.in.kept = first
	c.uncut = context.AfterFunc(c.server.cut, c.exchange.term.cut)
	only := &single{conn: c, address: c.LocalAddr()}
	_ = c.server.http.Serve(only) // it returns at once: there is no more to accept, or the server stops
	if only.conn != nil {
		c.in.kept, c.Conn = nil, &opening{Conn: c.Conn, conn: c, seen: true, byte: [1]byte(first), shaken: true}
		c.lastCall()
	}
}

// A single is a [net.Listener] that accepts one connection.
type single struct {
	conn    net.Conn
	address net.Addr
}

// Accept implements [net.Listener].
func (s *single) Accept() (net.Conn, error) {
	c := s.conn
	if s.conn = nil; c == nil {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements [net.Listener].
func (*single) Close() error { return nil }

// Addr implements [net.Listener].
func (s *single) Addr() net.Addr { return s.address }
