package server

import (
	"context"
	"io"
	"time"

	"plantstore/models"
)

// rejectTime is the time for the header on a connection beyond the limit, and again for
// reading the response.
const rejectTime = time.Second

// rejectOverLimit responds on a connection beyond the connection limit. It spends no more
// on it than a goroutine and a buffer.
func (c *conn) rejectOverLimit() {
	limits := lingerLimits{stall: rejectTime, total: rejectTime, bytes: defaultLinger().bytes}
	c.reject(rejectTime, c.server.config.overloaded(), limits)
}

// reject responds to the next request with e and closes the connection. It first waits for
// the header, for no longer than wait, and not for long at a shutdown: clients take a
// response without a request for a broken connection.
func (c *conn) reject(wait time.Duration, e *models.Error, limits lingerLimits) {
	_ = c.Conn.SetReadDeadline(time.Now().Add(wait)) // if it fails, so does Read
	stop := context.AfterFunc(c.server.draining, func() {
		_ = c.Conn.SetReadDeadline(time.Now().Add(min(wait, drainGrace)))
	})
	h := c.readHeader()
	stop()
	if h.begun {
		c.lingerOn(e, h.recipient(), limits)
		return
	}
	_ = c.release()
}

// readHeader reads as much as there is of the header of a request.
func (c *conn) readHeader() (h header) {
	err := c.scanPending(&h)
	input := io.LimitReader(c.Conn, maxHeaderBytes)
	buffer := make([]byte, 4<<10)
	for err == nil && !h.done {
		n, readErr := input.Read(buffer)
		_, err = h.scan(buffer[:n])
		if readErr != nil {
			break
		}
	}
	if !h.begun { // a read of net/http was in progress and has got it
		_ = c.scanPending(&h)
	}
	return h
}

// scanPending scans the input that was read for net/http.
func (c *conn) scanPending(h *header) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := h.scan(c.framing.pending)
	return err
}
