package server

import (
	"crypto/tls"

	"plantstore/models"
)

// CloseWrite is called by net/http before it closes the connection after its last write.
// It does not block in between.
func (c *conn) CloseWrite() error { return c.Close() }

// Close implements [io.Closer]. It returns at once. If there is a response that the client
// may not have read, the connection stays open in the background, see [acceptedConn.lingerOn].
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	if c.parking {
		c.park()
		return nil
	}
	e, to := c.missingResponse(), c.to
	if !c.handling {
		to = c.framing.header().recipient()
	}
	if e == nil && !c.responded && !c.discarding {
		return c.closeIdle()
	}
	c.server.background.Go(func() { c.lingerOn(e, to) })
	return nil
}

// closeIdle closes a connection without a request.
func (c *conn) closeIdle() error {
	if c.readErr == nil && c.server.draining.Err() != nil && c.server.forced.Err() == nil {
		c.server.background.Go(c.rejectAtShutdown)
		return nil
	}
	if _, secure := c.Conn.(*tls.Conn); secure { // closing may block if the client does not read
		c.server.background.Go(func() { _ = c.release() })
		return nil
	}
	return c.release()
}

// missingResponse returns the Error to send when the connection is closed, nil if the
// client has a response or no request.
func (c *conn) missingResponse() *models.Error {
	switch {
	case c.responded:
		return nil
	case c.handling:
		return Refusal(models.CodeInternal)
	case c.framing.begun():
		return c.readError()
	}
	return nil
}
