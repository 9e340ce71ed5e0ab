package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"plantstore/models"
)

// maxHandshake is how many bytes a client may send in a TLS handshake: several times what one
// takes, and less than the limit of crypto/tls.
const maxHandshake = 16 << 10

// A listener accepts connections within the connection limit, and some beyond it.
type listener struct {
	net.Listener

	server *Server
}

// Accept implements [net.Listener]. It waits while all slots are in use, until a shutdown.
func (l *listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	s := l.server
	s.accepted.Add(1)
	extra := s.extra
	if len(s.regular) < cap(s.regular) {
		extra = nil // only Accept takes slots
	}
	select {
	case s.regular <- struct{}{}:
		return s.newConn(nc, s.regular), nil
	case extra <- struct{}{}:
		s.turnedAway.Add(1)
		return s.newConn(nc, s.extra), nil
	case <-s.draining.Done():
		_ = nc.Close()
		return nil, net.ErrClosed
	}
}

// otherFiles is how many files a server opens besides the connections of clients, generously.
const otherFiles = 64

// checkFiles warns if the limit of open files is below that of connections: the listener then fails,
// and clients hang.
func (s *Server) checkFiles() {
	needed := cap(s.regular) + cap(s.extra) + otherFiles
	if limit := maxFiles(); limit < uint64(needed) {
		s.config.Logger.Warn("limit of open files is too low for MAX_CONNECTIONS", "limit", limit, "needed", needed,
			"hint", "raise the limit (ulimit -n, LimitNOFILE), or lower MAX_CONNECTIONS")
	}
}

// newConn returns the connection for net/http, which holds slot.
func (s *Server) newConn(nc net.Conn, slot chan struct{}) *conn {
	network := nc.(duplex) //nolint:forcetypeassert // TCP and Unix sockets are
	if tcp, ok := nc.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // else it grows to megabytes if the client does not read
	}
	c := &conn{duplex: network, network: network, server: s, slot: slot}
	if s.config.TLS != nil {
		_ = nc.SetWriteDeadline(time.Now().Add(s.config.HeaderTimeout)) // of the handshake; if it fails, so does Write
		c.below = &handshakeConn{nc, io.LimitReader(nc, maxHandshake)}
		c.duplex = tls.Server(c.below, s.config.TLS)
	}
	return c
}

// handshake does the TLS handshake. Plain HTTP gets an Error in plain HTTP (C1.3).
func (c *conn) handshake(secure *tls.Conn) error {
	// The context ends a handshake that waits for a certificate, and does no I/O.
	ctx, cancel := context.WithTimeout(c.server.draining, c.server.config.HeaderTimeout)
	defer cancel()
	err := secure.HandshakeContext(ctx)
	c.below.in = c.network
	plain, isPlain := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case err == nil:
		state := secure.ConnectionState()
		c.tls = &state
		if p := state.NegotiatedProtocol; p != "" && !strings.HasPrefix(p, "http/") {
			return io.EOF // nothing follows the handshake, as in a challenge of ACME (RFC 8737)
		}
	case isPlain && plain.Conn != nil:
		_ = c.refuse(c.network, models.NewError(models.CodeBadRequest, "this port uses TLS and the request came in plain HTTP: send it to an https:// URL"))
	case c.server.draining.Err() != nil || errors.Is(err, io.EOF): // a shutdown, or a port scan
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		c.server.slowHandshakes.Add(1)
	default:
		c.server.config.Logger.LogAttrs(ctx, slog.LevelInfo, "TLS handshake failed",
			slog.String("remote", c.RemoteAddr().String()), slog.String("cause", models.ClientText(err.Error())))
	}
	return err
}

// A handshakeConn is the connection below TLS.
type handshakeConn struct {
	net.Conn

	in io.Reader // limited until the handshake has ended
}

func (h *handshakeConn) Read(p []byte) (int, error) { return h.in.Read(p) }
