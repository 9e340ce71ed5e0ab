package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
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

// errLongHandshake is the error of a longer handshake.
var errLongHandshake = fmt.Errorf("the handshake exceeds %d bytes", maxHandshake)

// recordHandshake is the type of a client's first TLS record (RFC 8446, 5.1). No method of
// HTTP begins with this byte.
const recordHandshake = 0x16

// A tlsListener accepts connections and does the TLS handshake, so that [conn] and
// net/http read and write plaintext. Each connection goes to the server of the version of
// HTTP that was negotiated.
type tlsListener struct {
	*listener

	regular *tls.Config
	without *tls.Config // without HTTP/2
	http1   *connQueue
	http2   *connQueue
}

func newTLSListener(l *listener, config *tls.Config) *tlsListener {
	t := &tlsListener{listener: l, regular: config.Clone(), http1: newConnQueue(l), http2: newConnQueue(l)}
	for _, protocol := range []string{http2Name, http11Name, http10Name} {
		if !slices.Contains(t.regular.NextProtos, protocol) {
			t.regular.NextProtos = append(t.regular.NextProtos, protocol)
		}
	}
	t.without = t.regular.Clone()
	t.without.NextProtos = slices.DeleteFunc(slices.Clone(t.regular.NextProtos), func(p string) bool { return p == http2Name })
	t.regular.GetConfigForClient = t.configFor
	return t
}

// configFor returns the configuration for a client, nil for the regular one. A connection
// beyond the limit for HTTP/2 is offered HTTP/1.1, which nearly all clients support; so
// is one beyond the connection limit, for its Error.
func (t *tlsListener) configFor(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	c := hello.Conn.(*sniffedConn).conn //nolint:forcetypeassert // serve passes no other
	if c.slot != t.server.limit.regular {
		return t.without, nil
	}
	if slices.Contains(hello.SupportedProtos, http2Name) {
		if !t.server.limit.http2.tryAcquire() {
			return t.without, nil
		}
		c.http2Slot = t.server.limit.http2
	}
	return nil, nil //nolint:nilnil // as documented by crypto/tls
}

// run accepts connections until the listener is closed.
func (t *tlsListener) run() {
	for {
		c, within, err := t.accept()
		if err != nil {
			// net/http decides whether to continue, and waits before it does.
			if !t.http1.put(nil, err) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		t.server.background.Go(func() { t.serve(c, within) })
	}
}

// serve does the handshake on c and hands it over to net/http. Plain HTTP gets an Error in
// plain HTTP (C1.3).
func (t *tlsListener) serve(c *conn, within bool) {
	wait := t.server.config.HeaderTimeout
	if !within {
		wait = rejectTime
	}
	nc := c.Conn
	_ = nc.SetDeadline(time.Now().Add(wait)) // if it fails, so does Read
	// The context ends a handshake that waits for a certificate, and does no I/O.
	ctx, cancel := context.WithTimeout(t.server.forced, wait)
	defer cancel()
	stop := context.AfterFunc(c.draining, func() {
		_ = nc.SetDeadline(time.Now().Add(drainGrace))
		time.AfterFunc(drainGrace, cancel)
	})
	sniffed := &sniffedConn{Conn: nc, conn: c, left: maxHandshake}
	begun, encrypted := sniffed.sniff()
	if begun && !encrypted {
		stop()
		sniffed.done = true
		c.Conn = sniffed
		c.reject(wait, notEncrypted(), c.server.linger)
		return
	}
	secure := tls.Server(sniffed, t.regular)
	err := net.ErrClosed
	if begun {
		err = secure.HandshakeContext(ctx)
	}
	sniffed.done = true
	stop()
	_ = nc.SetDeadline(time.Time{})
	if err != nil {
		t.logFailure(c, begun, err)
		_ = c.release()
		return
	}
	c.Conn = secure
	t.handOver(c, within, secure.ConnectionState().NegotiatedProtocol)
}

// logFailure logs a failed handshake. A connection without one, such as a port scan, is
// not logged.
func (t *tlsListener) logFailure(c *conn, begun bool, err error) {
	if !begun || errors.Is(err, io.EOF) {
		return
	}
	t.server.config.Logger.LogAttrs(context.Background(), slog.LevelInfo, "TLS handshake failed",
		slog.String("remote", c.RemoteAddr().String()), slog.String("cause", models.WithoutToken(err.Error())))
}

// handOver passes c to the server of the protocol.
func (t *tlsListener) handOver(c *conn, within bool, protocol string) {
	switch {
	case !slices.Contains([]string{http2Name, http11Name, http10Name, ""}, protocol):
		_ = c.release() // the handshake is all of it, as in a challenge of ACME (RFC 8737)
	case !within:
		c.rejectOverLimit()
	case protocol == http2Name:
		if h := newHTTP2Conn(c); !t.http2.put(h, nil) {
			_ = h.Close()
		}
	default:
		c.expediteOnDrain()
		if !t.http1.put(c, nil) {
			c.rejectAtShutdown()
		}
	}
}

// A sniffedConn is a connection below TLS. Its first byte is inspected.
type sniffedConn struct {
	net.Conn

	conn    *conn // that is on top
	first   [1]byte
	sniffed bool // first was read from the connection, but not by a caller
	left    int  // bytes that may be read in the handshake
	done    bool // the handshake is
}

// sniff waits for the first byte, and reports whether there is one and whether it begins
// TLS.
func (s *sniffedConn) sniff() (begun, encrypted bool) {
	n, _ := s.Conn.Read(s.first[:])
	s.sniffed = n == 1
	return s.sniffed, s.first[0] == recordHandshake
}

// Read implements [io.Reader].
func (s *sniffedConn) Read(p []byte) (int, error) {
	if s.sniffed && len(p) > 0 {
		s.sniffed = false
		return copy(p, s.first[:]), nil
	}
	if s.done {
		return s.Conn.Read(p)
	}
	if s.left == 0 {
		return 0, errLongHandshake
	}
	n, err := s.Conn.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, err
}

// CloseWrite closes the server's half of the connection.
func (s *sniffedConn) CloseWrite() error {
	half, ok := s.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// A connQueue is a [net.Listener] of connections that were accepted elsewhere.
type connQueue struct {
	net.Listener // for its address

	ready  chan accepted
	closed chan struct{}
	close  func()
}

// accepted is a result of Accept.
type accepted struct {
	conn net.Conn
	err  error
}

func newConnQueue(ln net.Listener) *connQueue {
	q := &connQueue{Listener: ln, ready: make(chan accepted), closed: make(chan struct{})}
	q.close = sync.OnceFunc(func() { close(q.closed) })
	return q
}

// put waits until c, or err instead, is accepted. It returns false if the queue is closed.
func (q *connQueue) put(c net.Conn, err error) bool {
	select {
	case q.ready <- accepted{c, err}:
		return true
	case <-q.closed:
		return false
	}
}

// Accept implements [net.Listener].
func (q *connQueue) Accept() (net.Conn, error) {
	select {
	case a := <-q.ready:
		return a.conn, a.err
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (q *connQueue) Close() error {
	q.close()
	if err := q.Listener.Close(); !errors.Is(err, net.ErrClosed) { // by the other queue
		return err
	}
	return nil
}
