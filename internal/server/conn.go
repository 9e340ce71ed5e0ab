package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"plantstore/models"
)

// A duplex is a connection of which one half can be closed, as net/http does after some responses.
type duplex interface {
	net.Conn
	CloseWrite() error
}

// errTooManyLines is an error to which net/http responds.
var errTooManyLines = errors.New("too many lines in the header")

// A conn is the connection below net/http. It replaces the responses that net/http writes
// itself (C1.3), and drains the input before it closes after a response.
type conn struct {
	duplex // network, or TLS over it

	network duplex
	server  *Server
	slot    chan struct{}
	below   *handshakeConn       // nil: no TLS
	tls     *tls.ConnectionState // after the handshake
	body    body                 // of the current request
	due     time.Time            // the time limit of the body; zero after its end
	begun   bool                 // a byte was read
	asked   bool                 // the header that is being read has begun
	idle    bool                 // until net/http waits for another header
	lines   int                  // of the header that is being read; -1 after it
	tooMany bool                 // lines in it
	// handling is set from the call of the handler until net/http has written its response.
	handling bool
	timeout  atomic.Bool // the last read for the current request was too late
	ending   atomic.Bool // the current response is the last one: net/http gets no more input
	closed   atomic.Bool
}

// Read implements [io.Reader]. It counts the lines of a header, since fields may take twenty times
// the memory of their bytes, and [Server.handle] does not see them before the header is complete.
func (c *conn) Read(p []byte) (n int, err error) {
	switch {
	case c.ending.Load():
		return 0, io.EOF
	case c.lines > maxLines: // and the header goes on
		c.tooMany = true
		return 0, errTooManyLines
	case !c.begun:
		n, err = c.readFirst(p)
	default:
		n, err = c.duplex.Read(p)
	}
	late := errors.Is(err, os.ErrDeadlineExceeded)
	c.timeout.Store(late) // perhaps in net/http's background read
	if c.lines >= 0 {
		c.readHeader(p[:n], late)
	}
	return n, err
}

// readHeader notes a part of a header. If it is late, readHeader responds, as net/http does not; but
// not if no header has begun (C1.3).
func (c *conn) readHeader(part []byte, late bool) {
	c.lines += bytes.Count(part, []byte("\n"))
	c.asked = c.asked || len(bytes.Trim(part, "\r\n")) > 0 // blank lines may precede a header
	if late && c.asked {
		_ = c.SetWriteDeadline(time.Now().Add(responseTime)) // that of the last request may have passed
		_ = c.refuse(c.duplex, Refusal(models.CodeRequestTimeout))
	}
}

// SetReadDeadline implements [net.Conn]. net/http calls it when a connection becomes idle, and again
// when another header has begun.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.asked, c.idle = c.begun && !c.idle, false
	return c.duplex.SetReadDeadline(t)
}

// readFirst does the TLS handshake and reads the first bytes of a request. It ends when the
// shutdown begins: net/http would wait five seconds for a connection without a request. Its
// error is [io.EOF], to which net/http does not respond.
func (c *conn) readFirst(p []byte) (n int, err error) {
	defer context.AfterFunc(c.server.draining, func() { _ = c.network.SetReadDeadline(time.Now()) })()
	if secure, ok := c.duplex.(*tls.Conn); ok && c.tls == nil {
		err = c.handshake(secure)
	}
	if err == nil {
		n, err = c.duplex.Read(p)
	}
	if c.begun = n > 0; !c.begun {
		return 0, io.EOF
	}
	return n, err
}

// changed is the ConnState hook of net/http. It has read a header when a connection becomes active,
// and has ended its reads of the last request when it becomes idle.
func changed(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*conn)
	switch {
	case !ok:
	case state == http.StateActive:
		c.lines = -1
	case state == http.StateIdle:
		c.lines, c.asked, c.idle, c.due = 0, false, true, time.Time{}
		c.handling = false
		c.timeout.Store(false)
	}
}

// Write implements [io.Writer]. What net/http writes outside of a handler is a response of its own,
// in a single call: Write replaces it by an Error.
func (c *conn) Write(p []byte) (int, error) {
	switch {
	case c.handling:
		return c.duplex.Write(p)
	case c.ending.Load(): // readHeader has responded; net/http takes the end of the input for that of a line
		return len(p), nil
	}
	_, rest, _ := bytes.Cut(p, []byte(" ")) // after HTTP/1.1 or HTTP/1.0
	status, _ := strconv.ParseInt(string(rest[:min(3, len(rest))]), 10, 32)
	if c.tooMany {
		status = int64(models.CodeHeaderTooLarge)
	}
	return len(p), c.refuse(c.duplex, Refusal(models.Code(status)))
}

// Close implements [io.Closer]. After the last response it first reads until the client has closed
// its half, or a limit is reached: closing a connection with unread input resets it, and the client
// would lose the response (RFC 9112, 9.6). A second call ends that.
func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return c.network.Close()
	}
	defer func() { <-c.slot }()
	if c.server.forced.Err() != nil { // closing TLS may take seconds if the client does not read
		return c.network.Close()
	}
	if c.ending.Load() {
		_ = c.duplex.CloseWrite() // fails after plain HTTP to TLS
		_ = c.network.CloseWrite()
		end := time.Now().Add(drainTime)
		if c.due.After(end) { // the client may still be sending
			end = c.due
		}
		_ = c.network.SetReadDeadline(end) // if it fails, so does Read
		defer context.AfterFunc(c.server.draining, func() { _ = c.network.SetReadDeadline(time.Now().Add(lastDrainTime)) })()
		_, _ = io.CopyN(io.Discard, c.network, maxDrained)
	}
	return c.duplex.Close()
}

// Refusal returns the Error in place of the response of net/http with that status. An unknown
// status counts as 400.
func Refusal(status models.Code) *models.Error {
	switch status {
	case models.CodeRequestTimeout:
		return models.NewError(status, "the header came too slowly; send the whole request faster")
	case models.CodeExpectationFailed:
		return models.NewError(status, "Expect: only 100-continue is supported; send the request without it")
	case models.CodeHeaderTooLarge:
		return models.Errorf(status, "the header has more than %d fields, or more than %d bytes with the request line; "+
			"send fewer or shorter ones", maxFields, maxHeaderBytes)
	case models.CodeNotImplemented:
		return models.NewError(status, "Transfer-Encoding: only chunked is supported, once")
	case models.CodeUnavailable:
		return models.NewError(status, "the server is overloaded: all of its connections are in use (MAX_CONNECTIONS): "+
			"the plant was not stored; send it again later")
	case models.CodeVersionUnsupported:
		return models.NewError(status, "this version of HTTP is not supported here; send the request as HTTP/1.1")
	}
	return models.NewError(models.CodeBadRequest, "the request is not valid HTTP/1.1: check the request line, "+
		"that the header is complete, that there is one Host, that every header field is a name, a colon and a value, "+
		"and that Content-Length is one number")
}

// refuse writes e to nc, as [conn.refused] says.
func (c *conn) refuse(nc net.Conn, e *models.Error) error { return WriteRefusal(nc, c.refused(e), e) }

// WriteRefusal writes a response of the server itself to w, with a header of [RefusalHeader].
func WriteRefusal(w io.Writer, header http.Header, e *models.Error) error {
	response := bytes.NewBufferString("HTTP/1.1 400 Bad Request\r\n")
	_ = header.Write(response) // a buffer does not fail
	response.WriteString("\r\n")
	response.Write(e.Body())
	_, err := w.Write(response.Bytes())
	return err
}

// refused reports the Error e as the last response of the connection, and returns its header.
func (c *conn) refused(e *models.Error) http.Header {
	c.ending.Store(true)
	header := RefusalHeader(e, c.server.config.CORS)
	c.server.config.Refused(e, c.RemoteAddr().String(), header.Get("X-Request-Id"))
	return header
}

// RefusalHeader returns the header fields of the response of the server itself with e: with a new
// request id, and with the CORS fields for all origins (C1.3, C1.6, C3.19).
func RefusalHeader(e *models.Error, cors http.Header) http.Header {
	header := http.Header{
		"Connection":             {"close"},
		"Content-Type":           {"application/json"},
		"Content-Length":         {strconv.Itoa(len(e.Body()))},
		"Date":                   {time.Now().UTC().Format(http.TimeFormat)},
		"X-Content-Type-Options": {"nosniff"},
		"X-Request-Id":           models.RequestID(nil),
	}
	if e.Code.Temporary() {
		header.Set("Retry-After", models.RetryAfter)
	}
	maps.Copy(header, cors)
	return header
}
