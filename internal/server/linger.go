package server

import (
	"context"
	"time"

	"plantstore/models"
)

// lastWordTime is how long a client may take to make room for the last word. It
// is no longer than that because it may come on top of ShutdownTimeout.
const lastWordTime = time.Second

// stopLinger is how long a connection still lingers once the server stops: as
// long as net/http itself would give a client to read its answer.
const stopLinger = 500 * time.Millisecond

// lingerLimits bound how long a connection is read after its last answer.
type lingerLimits struct {
	stall time.Duration // without a byte from the client
	total time.Duration
	bytes int64
}

func defaultLinger() lingerLimits {
	return lingerLimits{stall: 5 * time.Second, total: 10 * time.Second, bytes: 256 << 20}
}

// lingerOn says word, if there is one, and closes the connection when the client
// has closed its half. Until then it reads and drops what the client sends: to
// close a connection with unread input resets it, and the client would lose the
// answer (RFC 9112, 9.6).
func (c *conn) lingerOn(word *models.Error, from requester, limits lingerLimits) {
	defer func() { _ = c.leave() }()
	if word != nil {
		_ = c.SetWriteDeadline(time.Now().Add(lastWordTime))
		if err := c.say(word, from); err != nil {
			return
		}
	}
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	defer context.AfterFunc(c.server.cut, c.cutOff)()
	defer context.AfterFunc(c.stopping, func() { time.AfterFunc(stopLinger, c.cutOff) })()
	c.drain(limits)
}

// drain reads until the client has closed its half, or a limit is reached.
func (c *conn) drain(limits lingerLimits) {
	end := time.Now().Add(limits.total)
	buffer := make([]byte, 8<<10)
	for limits.bytes > 0 {
		deadline := time.Now().Add(limits.stall)
		if deadline.After(end) {
			deadline = end
		}
		_ = c.Conn.SetReadDeadline(deadline) // if it fails, so does Read
		n, err := c.Conn.Read(buffer)
		if err != nil {
			return
		}
		limits.bytes -= int64(n)
	}
}
