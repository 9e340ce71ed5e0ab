package server

import (
	"context"
	"net"
)

// A listener accepts connections within the connection limit, as [conn].
type listener struct {
	net.Listener

	server   *Server
	draining context.Context // done when the shutdown begins
}

// Accept implements [net.Listener]. Connections beyond the limit are rejected in the
// background.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, within, err := l.accept()
		switch {
		case err != nil:
			return nil, err
		case within:
			c.expediteOnDrain()
			return c, nil
		}
		l.server.background.Go(c.rejectOverLimit)
	}
}

// accept returns the next connection, and whether it is within the limit.
func (l *listener) accept() (c *conn, within bool, err error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, false, err
	}
	c = &conn{Conn: nc, server: l.server, draining: l.draining, timed: true}
	l.server.counters.accepted.Add(1)
	c.slot, within = l.server.limit.acquire(l.draining.Done())
	if !within {
		l.server.counters.turnedAway.Add(1)
	}
	return c, within, nil
}
