package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"time"

	"plantstore/models"
)

// The names of the protocols in ALPN (RFC 7301).
const (
	http10Name = "http/1.0"
	http11Name = "http/1.1"
	http2Name  = "h2"
)

// maxHandshake is how many bytes a client may send in a handshake: several times what one
// takes, and less than the limit of crypto/tls.
const maxHandshake = 16 << 10

// recordHandshake is the type of a client's first TLS record (RFC 8446, 5.1). No method of
// HTTP begins with this byte.
const recordHandshake = 0x16

// Errors of a handshake.
var (
	errLongHandshake = fmt.Errorf("the handshake exceeds %d bytes", maxHandshake)
	// errNotTLS reports that the first byte does not begin TLS. It is also the response.
	errNotTLS = models.NewError(models.CodeBadRequest,
		"this port uses TLS and the request came in plain HTTP: send it to an https:// URL")
)

// withProtocols returns a configuration that offers HTTP/2 within its limit. Beyond it, a
// connection is offered HTTP/1.1, which nearly all clients support; so is one beyond the
// connection limit, for its Error.
func withProtocols(config *tls.Config) *tls.Config {
	http1 := config.Clone()
	http1.NextProtos = append(slices.Clone(config.NextProtos), http11Name, http10Name)
	http1.NextProtos = slices.DeleteFunc(http1.NextProtos, func(p string) bool { return p == http2Name })
	both := http1.Clone()
	both.NextProtos = append([]string{http2Name}, http1.NextProtos...)
	http1.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		c := hello.Conn.(*handshakeConn).conn //nolint:forcetypeassert // handshake passes no other
		limit := c.server.limit.http2
		if c.withinLimit() && slices.Contains(hello.SupportedProtos, http2Name) && limit.tryAcquire() {
			c.http2Slot = limit
			return both, nil
		}
		return nil, nil //nolint:nilnil // http1, as documented by crypto/tls
	}
	return http1
}

// handshake does the TLS handshake on a new connection, so that [conn] and net/http read and
// write plaintext, and passes it to the server of the version of HTTP that was negotiated.
// Plain HTTP gets an Error in plain HTTP (C1.3).
func (c *acceptedConn) handshake() {
	wait, nc := c.firstTime(), c.Conn
	_ = nc.SetDeadline(time.Now().Add(wait)) // if it fails, so does Read
	// The context ends a handshake that waits for a certificate, and does no I/O.
	ctx, cancel := context.WithTimeout(c.server.forced, wait)
	defer cancel()
	stop := context.AfterFunc(c.server.draining, func() {
		_ = nc.SetDeadline(time.Now().Add(drainGrace))
		time.AfterFunc(drainGrace, cancel)
	})
	below := &handshakeConn{Conn: nc, conn: c, left: maxHandshake}
	secure := tls.Server(below, c.server.config.TLS)
	err := secure.HandshakeContext(ctx)
	below.done = true
	stop()
	_ = nc.SetDeadline(time.Time{})
	switch {
	case errors.Is(err, errNotTLS):
		c.reject(errNotTLS, func() []byte { return below.first })
	case err != nil:
		// A connection without a handshake, such as a port scan, is not logged.
		if below.left < maxHandshake && !errors.Is(err, io.EOF) {
			c.server.config.Logger.LogAttrs(context.Background(), slog.LevelInfo, "TLS handshake failed",
				slog.String("remote", c.RemoteAddr().String()), slog.String("cause", models.WithoutToken(err.Error())))
		}
		_ = c.release()
	default:
		c.Conn = secure
		c.handOver(secure.ConnectionState().NegotiatedProtocol)
	}
}

// handOver passes c to the server of the protocol.
func (c *acceptedConn) handOver(protocol string) {
	switch {
	case !slices.Contains([]string{http2Name, http11Name, http10Name, ""}, protocol):
		_ = c.release() // nothing follows the handshake, as in a challenge of ACME (RFC 8737)
	case !c.withinLimit():
		c.rejectOverLimit()
	case protocol == http2Name:
		if h := newHTTP2Conn(c); !serveConn(c.server.http2, h) {
			_ = h.Close()
		}
	default:
		c.server.background.Go(c.begin) // not here: the handshake has grown the stack
	}
}

// A handshakeConn is a connection below TLS.
type handshakeConn struct {
	net.Conn

	conn  *acceptedConn // that is on top
	first []byte        // the input, if it is not TLS
	left  int           // bytes that may be read in the handshake
	done  bool          // the handshake has ended
}

// Read implements [io.Reader]. If the input is not TLS, it keeps it for [acceptedConn.reject].
func (h *handshakeConn) Read(p []byte) (int, error) {
	if h.done {
		return h.Conn.Read(p)
	}
	if h.left == 0 {
		return 0, errLongHandshake
	}
	n, err := h.Conn.Read(p[:min(len(p), h.left)])
	if h.left == maxHandshake && n > 0 && p[0] != recordHandshake {
		h.first = bytes.Clone(p[:n])
		return 0, errNotTLS
	}
	h.left -= n
	return n, err
}
