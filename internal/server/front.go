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

// The protocols that clients and the server agree on during a handshake, by their
// names in ALPN (RFC 7301).
const (
	http0Name = "http/1.0"
	http1Name = "http/1.1"
	http2Name = "h2"
)

// maxHandshake is how many bytes a client may send before the handshake is over:
// several times what one takes, and less than crypto/tls would keep.
const maxHandshake = 16 << 10

// errLongHandshake is the error of a handshake that goes on after that.
var errLongHandshake = fmt.Errorf("the client has sent %d bytes, and the handshake is not over", maxHandshake)

// recordOfHandshake is how a client that speaks TLS begins: with the type of its
// first record (RFC 8446, 5.1). No method of HTTP does.
const recordOfHandshake = 0x16

// A front accepts connections and does the handshake of TLS on each, so that
// those who work on a connection, [conn] and net/http, find what the client says.
// The connections are then for the server of the version of HTTP that was agreed
// on.
type front struct {
	*listener

	regular *tls.Config
	crowded *tls.Config // without HTTP/2
	one     *handover   // for HTTP/1
	two     *handover   // for HTTP/2
}

func newFront(l *listener, config *tls.Config) *front {
	f := &front{listener: l, regular: config.Clone(), one: newHandover(l), two: newHandover(l)}
	for _, protocol := range []string{http2Name, http1Name, http0Name} {
		if !slices.Contains(f.regular.NextProtos, protocol) {
			f.regular.NextProtos = append(f.regular.NextProtos, protocol)
		}
	}
	f.crowded = f.regular.Clone()
	f.crowded.NextProtos = slices.DeleteFunc(slices.Clone(f.regular.NextProtos), func(p string) bool { return p == http2Name })
	f.regular.GetConfigForClient = f.configFor
	return f
}

// configFor returns what TLS is spoken with to a client, nil for the regular. Nearly
// all clients take HTTP/1.1 as well as HTTP/2: where there is no room for one more
// connection of HTTP/2 they can do without, and those for which there is no place at
// all are told so in it.
func (f *front) configFor(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	o := hello.Conn.(*opening) //nolint:forcetypeassert // greet puts nothing else there
	if o.conn.place == f.server.places.regular && (!slices.Contains(hello.SupportedProtos, http2Name) || o.conn.takeTwo()) {
		return nil, nil //nolint:nilnil // so has crypto/tls it
	}
	return f.crowded, nil
}

// run accepts connections until the listener is closed.
func (f *front) run() {
	for {
		nc, err := f.Listener.Accept()
		if err != nil {
			// net/http knows whether it pays to go on, and waits before it does.
			if !f.one.give(nil, err) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		c := &conn{Conn: nc, server: f.server, stopping: f.stopping, timed: true}
		f.server.counted.accepted.Add(1)
		stays := f.server.places.take(c)
		if !stays {
			f.server.counted.turnedAway.Add(1)
		}
		f.server.lingering.Go(func() { f.greet(c, stays) })
	}
}

// greet does the handshake on c and hands it over. A client that speaks plain HTTP
// is told so in the same (C1.3).
func (f *front) greet(c *conn, stays bool) {
	wait := f.server.config.HeaderTimeout
	if !stays {
		wait = turnAwayTime
	}
	nc := c.Conn
	_ = nc.SetDeadline(time.Now().Add(wait)) // if it fails, so does Read
	// While it waits for a certificate, the handshake neither reads nor writes.
	inTime, cancel := context.WithTimeout(f.server.cut, wait)
	defer cancel()
	unhurried := context.AfterFunc(c.stopping, func() {
		_ = nc.SetDeadline(time.Now().Add(stopGrace))
		time.AfterFunc(stopGrace, cancel)
	})
	first := &opening{Conn: nc, conn: c, left: maxHandshake}
	begun, encrypted := first.look()
	if begun && !encrypted {
		unhurried()
		first.shaken = true // there is none
		c.Conn = first
		c.refuseNext(wait, notEncrypted(), c.server.linger)
		return
	}
	secure := tls.Server(first, f.regular)
	err := net.ErrClosed
	if begun {
		err = secure.HandshakeContext(inTime)
	}
	first.shaken = true
	unhurried()
	_ = nc.SetDeadline(time.Time{})
	if err != nil {
		f.failed(c, begun, err)
		_ = c.leave()
		return
	}
	c.Conn = secure
	f.handOver(c, stays, secure.ConnectionState().NegotiatedProtocol)
}

// failed logs why there is no connection. Those that say nothing, and those that
// only see whether somebody listens, are no news.
func (f *front) failed(c *conn, begun bool, err error) {
	if !begun || errors.Is(err, io.EOF) {
		return
	}
	f.server.config.Logger.LogAttrs(context.Background(), slog.LevelInfo, "TLS handshake failed",
		slog.String("remote", c.RemoteAddr().String()), slog.String("cause", models.WithoutToken(err.Error())))
}

// handOver gives c, on which TLS is spoken by now, to those who speak protocol.
func (f *front) handOver(c *conn, stays bool, protocol string) {
	switch {
	case !slices.Contains([]string{http2Name, http1Name, http0Name, ""}, protocol):
		_ = c.leave() // the handshake was all that there is to it, as for a challenge of ACME (RFC 8737)
	case !stays:
		c.turnAway()
	case protocol == http2Name:
		c.uncut = context.AfterFunc(f.server.cut, c.cutOff)
		if t := newTwo(c); !f.two.give(t, nil) {
			_ = t.Close()
		}
	default:
		c.watch()
		c.uncut = context.AfterFunc(f.server.cut, c.exchange.term.cut)
		if !f.one.give(c, nil) {
			c.lastCall()
		}
	}
}

// An opening is a connection beneath TLS, whose first byte may have been looked at.
type opening struct {
	net.Conn

	conn   *conn // whose it is
	seen   bool  // the first byte, but it has not been read
	byte   [1]byte
	left   int  // bytes that may still be read in the handshake
	shaken bool // the handshake is over
}

// look waits for the first byte, if one comes, and reports whether TLS begins so.
func (o *opening) look() (begun, encrypted bool) {
	n, _ := o.Conn.Read(o.byte[:])
	o.seen = n == 1
	return o.seen, o.byte[0] == recordOfHandshake
}

// Read implements [io.Reader].
func (o *opening) Read(p []byte) (int, error) {
	if o.seen && len(p) > 0 {
		o.seen = false
		return copy(p, o.byte[:]), nil
	}
	if o.shaken {
		return o.Conn.Read(p)
	}
	if o.left == 0 {
		return 0, errLongHandshake
	}
	n, err := o.Conn.Read(p[:min(len(p), o.left)])
	o.left -= n
	return n, err
}

// CloseWrite closes the server's half of the connection.
func (o *opening) CloseWrite() error {
	half, ok := o.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// A handover is a [net.Listener] of connections that others have accepted.
type handover struct {
	net.Listener // for its address

	ready  chan accepted
	closed chan struct{}
	close  func()
}

// accepted is an outcome of Accept.
type accepted struct {
	conn net.Conn
	err  error
}

func newHandover(of net.Listener) *handover {
	h := &handover{Listener: of, ready: make(chan accepted), closed: make(chan struct{})}
	h.close = sync.OnceFunc(func() { close(h.closed) })
	return h
}

// give waits for somebody who accepts c, or err in its place. It returns false if
// nobody does any more.
func (h *handover) give(c net.Conn, err error) bool {
	select {
	case h.ready <- accepted{c, err}:
		return true
	case <-h.closed:
		return false
	}
}

// Accept implements [net.Listener].
func (h *handover) Accept() (net.Conn, error) {
	select {
	case a := <-h.ready:
		return a.conn, a.err
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (h *handover) Close() error {
	h.close()
	if err := h.Listener.Close(); !errors.Is(err, net.ErrClosed) { // the other handover's, before
		return err
	}
	return nil
}

// notEncrypted returns the Error for plain HTTP where TLS is spoken.
func notEncrypted() *models.Error {
	return models.NewError(models.CodeBadRequest,
		"this port speaks TLS and the request came in plain HTTP: send it to an https:// URL")
}
