package server

import (
	"context"
	"net"
)

// A listener accepts connections that a [conn] watches over.
type listener struct {
	net.Listener

	server   *Server
	stopping context.Context // done when the server stops
}

// Accept implements [net.Listener]. Connections for which there is no place are
// answered behind the back of net/http.
func (l *listener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: nc, server: l.server, stopping: l.stopping, timed: true}
		l.server.counted.accepted.Add(1)
		if l.server.places.take(c) {
			c.watch()
			c.uncut = context.AfterFunc(l.server.cut, c.exchange.term.cut)
			return c, nil
		}
		l.server.counted.turnedAway.Add(1)
		l.server.lingering.Go(c.turnAway)
	}
}
