package server

import "plantstore/models"

// CloseWrite closes the connection. net/http calls it after its last write, waits, and then calls
// Close, which has no further effect.
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
	e, to := c.missingResponse(), c.to
	if !c.handling {
		to = c.framing.header().recipient()
	}
	switch {
	case c.parking:
		c.park()
	case e != nil, c.responded, c.discarding:
		c.server.background.Go(func() { c.lingerOn(e, to) })
	case c.readErr == nil && c.server.draining.Err() != nil && c.server.forced.Err() == nil:
		c.server.background.Go(c.rejectAtShutdown)
	default:
		c.server.background.Go(func() { _ = c.release() }) // TLS may block if the client does not read
	}
	return nil
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
