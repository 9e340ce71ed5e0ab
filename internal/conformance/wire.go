package conformance

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// The maximum sizes of the header and of the body of a response in bytes. The description of the
// service is the longest response.
const (
	maxHeader = 64 << 10
	maxBody   = 1 << 20
)

var errTooLong = errors.New("the response is too long: it has more than 64 KiB of header or 1 MiB of body")

// A received is a received response.
type received struct {
	status    int
	header    http.Header
	body      []byte
	continued bool // after an interim response 100
}

// A conn is an open connection to the server.
type conn struct {
	net.Conn

	in   *bufio.Reader
	rest int // bytes that the current part of a response may still have
}

// Read implements [io.Reader], within the limits of a response.
func (l *conn) Read(p []byte) (int, error) {
	if l.rest <= 0 {
		return 0, errTooLong
	}
	n, err := l.Conn.Read(p[:min(len(p), l.rest)])
	l.rest -= n
	return n, err
}

// exchange runs an exchange and returns the responses: as many as expected, unless it
// returns an error.
func (r *runner) exchange(ctx context.Context, t Exchange, v values) ([]received, error) {
	if !t.unpaced {
		r.keepPace(ctx, t)
	}
	l, err := r.dial(ctx, t.Plain)
	if v.start != nil {
		v.start.Done()
		v.start.Wait()
	}
	if err != nil {
		return nil, fmt.Errorf("the server cannot be reached: %w", err)
	}
	defer func() { _ = l.Close() }()
	defer context.AfterFunc(ctx, func() { _ = l.SetDeadline(time.Now()) })()
	if err := l.SetDeadline(time.Now().Add(r.timeout(t))); err != nil {
		return nil, err
	}
	out, err := t.bytes(v)
	if err != nil {
		return nil, err
	}
	all, err := l.exchange(t, out)
	if err != nil {
		return all, r.describeError(err)
	}
	if t.More {
		return all, nil
	}
	return all, r.describeError(l.after(t.After, v))
}

// timeout returns the time limit of an exchange. If the exchange provokes a timeout of the
// server, the limit includes RequestTimeout.
func (r *runner) timeout(t Exchange) time.Duration {
	for _, a := range t.Want {
		if slices.Contains(a.Codes, 408) {
			return r.Timeout + r.RequestTimeout
		}
	}
	return r.Timeout
}

func (r *runner) dial(ctx context.Context, plain bool) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	var nc net.Conn
	var err error
	if r.values.scheme == "https" && !plain {
		config := r.TLS.Clone()
		if config == nil {
			config = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		config.NextProtos = []string{"http/1.1"}
		nc, err = (&tls.Dialer{Config: config}).DialContext(ctx, r.network, r.address)
	} else {
		nc, err = (&net.Dialer{}).DialContext(ctx, r.network, r.address)
	}
	if err != nil {
		return nil, err
	}
	l := &conn{Conn: nc, rest: maxHeader}
	l.in = bufio.NewReader(l)
	return l, nil
}

// bytes returns the bytes to send before each response.
func (t Exchange) bytes(v values) ([][]byte, error) {
	out := make([][]byte, 0, len(t.Send))
	for _, request := range t.Send {
		b, err := request.bytes(v)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	if t.Pipelined {
		out = [][]byte{bytes.Join(out, nil)}
	}
	last := &out[len(out)-1]
	*last = (*last)[:max(len(*last)-t.HoldBack, 0)]
	return out, nil
}

// exchange sends requests and receives responses in turn. It writes while it reads, because
// a server may respond before it has read the whole request.
func (l *conn) exchange(t Exchange, out [][]byte) ([]received, error) {
	var all []received
	for i, b := range out {
		written := make(chan error, 1)
		go func() { written <- l.send(b, t, i == len(out)-1) }()
		responses := 1
		if t.Pipelined || i >= len(t.Want) {
			responses = len(t.Want) - len(all)
		}
		for range responses {
			h, err := l.receive(t.Send[len(all)])
			if err != nil {
				return all, err
			}
			all = append(all, h)
		}
		if i < len(out)-1 || t.Then == ThenDrop {
			if err := <-written; err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// send writes b. After the last bytes of an exchange it half-closes the connection if t.Then is
// ThenHalfClose.
func (l *conn) send(b []byte, t Exchange, last bool) error {
	size := len(b)
	if t.Pieces > 0 {
		size = t.Pieces
	}
	for piece := range slices.Chunk(b, max(size, 1)) {
		if _, err := l.Write(piece); err != nil {
			return err
		}
	}
	if half, ok := l.Conn.(interface{ CloseWrite() error }); ok && last && t.Then == ThenHalfClose {
		return half.CloseWrite()
	}
	return nil
}

// receive reads one response.
func (l *conn) receive(to Request) (received, error) {
	var h received
	request := &http.Request{Method: http.MethodPost}
	if strings.HasPrefix(to.Line, "HEAD ") {
		request.Method = http.MethodHead
	}
	for l.rest = maxHeader; ; {
		response, err := http.ReadResponse(l.in, request)
		if err != nil && l.rest <= 0 { // it may be another error, of the cut header
			err = errTooLong
		}
		if err != nil {
			return h, err
		}
		if response.StatusCode == http.StatusContinue {
			h.continued = true
			continue
		}
		defer func() { _ = response.Body.Close() }()
		h.status, h.header = response.StatusCode, response.Header
		l.rest = maxBody
		if h.body, err = io.ReadAll(response.Body); errors.Is(err, errTooLong) {
			return h, err
		} else if err != nil {
			return h, fmt.Errorf("the response is cut short: %w", err)
		}
		return h, nil
	}
}

// after checks the state of the connection.
func (l *conn) after(a After, v values) error {
	if n := l.in.Buffered(); n > 0 {
		more, _ := l.in.Peek(n)
		return fmt.Errorf("%d bytes follow the response: %s", n, short(string(more), 80))
	}
	l.rest = maxHeader
	switch a {
	case AfterEither:
	case AfterClosed:
		if _, err := l.in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			return errors.New("the connection is still open, want it closed")
		}
	case AfterKept:
		probe, err := bare("POST {{path}}/plants").with("Content-Length: 0").bytes(v)
		if err != nil {
			return err
		}
		if _, err = l.Write(probe); err == nil {
			_, err = l.receive(Request{})
		}
		if err != nil {
			return fmt.Errorf("the connection is not kept: %w", err)
		}
	}
	return nil
}

// describeError adds to an error the reason why there is no response.
func (r *runner) describeError(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no response in time (%v): %w", r.Timeout, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("closed without a response: %w", err)
	}
	return err
}
