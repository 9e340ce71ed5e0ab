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

// heardLimit is how much of one answer is read; the description of the service
// is the longest.
const heardLimit = 8 << 20

// A heard is an answer as it came.
type heard struct {
	status    int
	header    http.Header
	body      []byte
	continued bool // an interim answer 100 came first
}

// A line is an open connection to the server.
type line struct {
	net.Conn

	in *bufio.Reader
}

// talk has one talk and returns the answers that came, which are all that were
// wanted unless there is an error.
func (r *runner) talk(ctx context.Context, t Talk, v values) ([]heard, error) {
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
	if err := l.SetDeadline(time.Now().Add(r.patience(t))); err != nil {
		return nil, err
	}
	if r.HTTP2 && !t.Plain {
		return r.talkTwo(ctx, t, v, l.Conn)
	}
	out, err := t.bytes(v)
	if err != nil {
		return nil, err
	}
	all, err := l.converse(t, out)
	if err != nil {
		return all, r.explain(err)
	}
	if t.More {
		return all, nil
	}
	return all, r.explain(l.after(t.After, v))
}

// patience is how long a talk may take. One that stays silent until the server
// loses patience takes as long as the server's.
func (r *runner) patience(t Talk) time.Duration {
	for _, a := range t.Want {
		if slices.Contains(a.Codes, 408) {
			return r.Timeout + r.HeaderTimeout + r.RequestTimeout
		}
	}
	return r.Timeout
}

func (r *runner) dial(ctx context.Context, plain bool) (*line, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	var conn net.Conn
	var err error
	if r.values.scheme == "https" && !plain {
		config := r.TLS.Clone()
		if config == nil {
			config = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		config.NextProtos = []string{r.protocol()}
		conn, err = (&tls.Dialer{Config: config}).DialContext(ctx, r.network, r.address)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, r.network, r.address)
	}
	if err != nil {
		return nil, err
	}
	return &line{Conn: conn, in: bufio.NewReader(conn)}, nil
}

// protocol returns the name in ALPN of what is spoken.
func (r *runner) protocol() string {
	if r.HTTP2 {
		return "h2"
	}
	return "http/1.1"
}

// bytes returns what is sent before each answer is awaited.
func (t Talk) bytes(v values) ([][]byte, error) {
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

// converse sends and listens in turn. A write goes on while the answer to it is
// awaited, because a server may answer before it has read everything.
func (l *line) converse(t Talk, out [][]byte) ([]heard, error) {
	var all []heard
	for i, b := range out {
		written := make(chan error, 1)
		go func() { written <- l.send(b, t, i == len(out)-1) }()
		answers := 1
		if t.Pipelined || i >= len(t.Want) {
			answers = len(t.Want) - len(all)
		}
		for range answers {
			h, err := l.listen(t.Send[len(all)])
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

// send writes b, and after the last byte of a talk does what comes then.
func (l *line) send(b []byte, t Talk, last bool) error {
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

// listen reads one answer whole.
func (l *line) listen(to Request) (heard, error) {
	var h heard
	request := &http.Request{Method: http.MethodPost}
	if strings.HasPrefix(to.Line, "HEAD ") {
		request.Method = http.MethodHead
	}
	for {
		response, err := http.ReadResponse(l.in, request)
		if err != nil {
			return h, err
		}
		if response.StatusCode == http.StatusContinue {
			h.continued = true
			continue
		}
		defer func() { _ = response.Body.Close() }()
		h.status, h.header = response.StatusCode, response.Header
		if h.body, err = io.ReadAll(io.LimitReader(response.Body, heardLimit)); err != nil {
			return h, fmt.Errorf("the answer breaks off: %w", err)
		}
		return h, nil
	}
}

// after checks what became of the connection.
func (l *line) after(a After, v values) error {
	if n := l.in.Buffered(); n > 0 {
		more, _ := l.in.Peek(n)
		return fmt.Errorf("%d bytes follow the answer: %s", n, short(string(more), 80))
	}
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
			_, err = l.listen(Request{})
		}
		if err != nil {
			return fmt.Errorf("the connection is not kept: %w", err)
		}
	}
	return nil
}

// explain says in plain words why there is no answer.
func (r *runner) explain(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer in time (%v): %w", r.Timeout, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("closed without an answer: %w", err)
	}
	return err
}
