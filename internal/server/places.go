package server

import (
	"io"
	"time"
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

// leave closes the connection itself and frees its place. It must be called
// once only.
func (c *conn) leave() error {
	err := c.Conn.Close()
	if c.place != nil {
		<-c.place
	}
	return err
}

// turnAway answers a connection for which there is no place. It waits for the
// header: clients take an answer to nothing for a fault of the connection. What
// costs more than that, net/http included, such a connection does not get.
func (c *conn) turnAway() {
	var h head
	header := io.LimitReader(c.Conn, int64(c.server.config.MaxHeaderBytes))
	buffer := make([]byte, 4<<10)
	_ = c.SetReadDeadline(time.Now().Add(turnAwayTime)) // if it fails, so does Read
	for ended := false; !ended && !h.done; {
		n, err := header.Read(buffer)
		_, bad := h.scan(buffer[:n])
		ended = err != nil || bad != nil
	}
	if !h.begun {
		_ = c.leave()
		return
	}
	c.lingerOn(c.server.config.crowded(), h.requester(), lingerLimits{
		stall: turnAwayTime, total: turnAwayTime, bytes: defaultLinger().bytes,
	})
}
