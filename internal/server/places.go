package server

import (
	"context"
	"crypto/tls"
	"io"
	"time"

	"plantstore/models"
)

const (
	// defaultMaxConnections bounds the connections if the configuration does not.
	defaultMaxConnections = 10_000
	// turnAwayTime is how long a connection without a place may take for its
	// header, and again to read its answer.
	turnAwayTime = time.Second
	// otherFiles are the files that a process needs open besides connections.
	otherFiles = 64
)

// ConnectionsWithin returns the largest MaxConnections for a process that may
// have that many files open. It is not positive if there are too few for any.
func ConnectionsWithin(files int) int { return (files - otherFiles) / 9 * 8 }

// HTTP2Connections returns how many connections may speak HTTP/2 at a time where
// MaxConnections is so many: as many as have that many requests together.
func HTTP2Connections(maxConnections int) int { return max(1, maxConnections/maxStreams) }

// places bound the open connections. One that finds no free place is answered
// all the same, in one of a few further ones that are only held for a moment.
// When those are taken, too, connections wait to be accepted.
type places struct {
	regular chan struct{}
	further chan struct{}
}

func newPlaces(maxConnections int) places {
	return places{
		regular: make(chan struct{}, maxConnections),
		further: make(chan struct{}, max(1, maxConnections/8)),
	}
}

// take gives c a place, and reports whether it is one to stay. It may wait for
// one, but not once the server stops: then no more than what is accepted before
// the listener closes goes without.
func (p places) take(c *conn) (stays bool) {
	select {
	case p.regular <- struct{}{}:
		c.place = p.regular
		return true
	default:
	}
	select {
	case p.regular <- struct{}{}:
		c.place = p.regular
		return true
	case p.further <- struct{}{}:
		c.place = p.further
	case <-c.stopping.Done():
	}
	return false
}

// takeTwo reports whether there is room for one more connection of HTTP/2, which is
// c then.
func (c *conn) takeTwo() bool {
	select {
	case c.server.twos <- struct{}{}:
		c.two = true
	default:
	}
	return c.two
}

// leave closes the connection itself and frees its place. It must be called
// once only.
func (c *conn) leave() error {
	err := c.Conn.Close()
	if c.uncut != nil {
		c.uncut()
		c.exchange.term.release()
	}
	if c.two {
		<-c.server.twos
	}
	if c.place != nil {
		<-c.place
	}
	return err
}

// cutOff closes the connection beneath TLS, if there is any: to say goodbye in that
// may take some seconds.
func (c *conn) cutOff() {
	if secure, ok := c.Conn.(*tls.Conn); ok {
		_ = secure.NetConn().Close()
		return
	}
	_ = c.Conn.Close()
}

// turnAway answers a connection for which there is no place. What costs more than
// that, net/http included, such a connection does not get.
func (c *conn) turnAway() {
	limits := lingerLimits{stall: turnAwayTime, total: turnAwayTime, bytes: defaultLinger().bytes}
	c.refuseNext(turnAwayTime, c.server.config.crowded(), limits)
}

// lastCall ends an idle connection when the server stops: a request that the
// client had sent, before it could know, is answered.
func (c *conn) lastCall() {
	c.refuseNext(stopGrace, c.server.config.refusal(models.CodeUnavailable), c.server.linger)
}

// refuseNext answers the next request with e, if there is one in time, and closes
// the connection. It waits for the header: clients take an answer to nothing for
// a fault of the connection. Once the server stops it does not wait for long.
func (c *conn) refuseNext(wait time.Duration, e *models.Error, limits lingerLimits) {
	_ = c.Conn.SetReadDeadline(time.Now().Add(wait)) // if it fails, so does Read
	unhurried := context.AfterFunc(c.stopping, func() {
		_ = c.Conn.SetReadDeadline(time.Now().Add(min(wait, stopGrace)))
	})
	h := c.nextHead()
	unhurried()
	if h.begun {
		c.lingerOn(e, h.requester(), limits)
		return
	}
	_ = c.leave()
}

// nextHead reads what comes of the header of a request that is not handled.
func (c *conn) nextHead() (h head) {
	input := io.LimitReader(c.Conn, int64(c.server.config.MaxHeaderBytes))
	buffer := make([]byte, 4<<10)
	for ended := false; !ended && !h.done; {
		n, err := input.Read(buffer)
		_, bad := h.scan(buffer[:n])
		ended = err != nil || bad != nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !h.begun {
		_, _ = h.scan(c.in.kept) // net/http was reading, and has got it
	}
	return h
}
