package server

import "net"

// A listener accepts connections within the connection limit. It returns none of them: they
// come to net/http with their first request, see [acceptedConn.begin].
type listener struct {
	net.Listener

	server *Server
}

// Accept implements [net.Listener]. It returns the errors, for net/http to retry or give up.
func (l *listener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.server.counters.accepted.Add(1)
		c := &acceptedConn{Conn: nc, server: l.server, slot: l.server.limit.acquire(l.server.draining.Done())}
		if !c.withinLimit() {
			l.server.counters.turnedAway.Add(1)
		}
		switch {
		case l.server.config.TLS != nil:
			l.server.background.Go(c.handshake)
		case c.withinLimit():
			l.server.background.Go(c.begin)
		default:
			l.server.background.Go(c.rejectOverLimit)
		}
	}
}
