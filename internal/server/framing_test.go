package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plantstore/models"
)

// A framed is a request with known boundaries.
type framed struct {
	header, body string
	request      *http.Request
	uncertain    bool
}

func drawFramed(t *rapid.T) framed {
	method := rapid.SampledFrom([]string{"GET", "HEAD", "POST", "HEADER"}).Draw(t, "method")
	eol := rapid.SampledFrom([]string{"\r\n", "\n"}).Draw(t, "eol")
	content := rapid.StringOfN(rapid.RuneFrom([]rune("\r\na0")), 0, 20, -1).Draw(t, "content")
	f := framed{request: &http.Request{Method: method, ProtoMajor: 1, ProtoMinor: 1, Body: io.NopCloser(nil)}}
	var field string
	switch rapid.SampledFrom([]string{"none", "length", "chunked", "both"}).Draw(t, "body") {
	case "none":
		field, f.request.Body = "X: Content-Length: 3", http.NoBody
	case "length":
		field, f.body, f.request.ContentLength = fmt.Sprintf("Content-length: %d", len(content)), content, int64(len(content))
	case "both":
		field, f.uncertain = "X: y"+eol+"CONTENT-LENGTH: 2"+eol, true
		fallthrough
	default:
		field += "transfer-Encoding: chunked"
		f.body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(content)+1, content+"a")
		f.request.ContentLength = chunkedLength
	}
	f.header = method + " / HTTP/1.1" + eol + "Host: x" + eol + field + eol + eol
	return f
}

// A feed reads a stream through a framing, as conn does.
type feed struct {
	in   framing
	from *strings.Reader
}

// read reads up to size bytes, of which up to segment come from the stream.
func (f *feed) read(t *rapid.T, size int) string {
	p := make([]byte, size)
	var n int
	var err error
	if len(f.in.pending) > 0 {
		n, err = f.in.release(p)
	} else if n, err = f.from.Read(p[:rapid.IntRange(1, size).Draw(t, "segment")]); n > 0 {
		n, err = f.in.admit(p, n)
	}
	if err != nil || n == 0 {
		t.Fatalf("read %d bytes, %v", n, err)
	}
	return string(p[:n])
}

// exactly reads want, and no further byte.
func (f *feed) exactly(t *rapid.T, got, want string) {
	for len(got) < len(want) {
		got += f.read(t, rapid.IntRange(2, 100).Draw(t, "size"))
	}
	if got != want {
		t.Fatalf("let %q through, want %q", got, want)
	}
}

// TestFramingStopsAtEnds checks that the end of each part is found, whatever the sizes of reads
// and segments.
func TestFramingStopsAtEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		requests := rapid.SliceOfN(rapid.Custom(drawFramed), 1, 5).Draw(t, "requests")
		var all strings.Builder
		for _, f := range requests {
			all.WriteString(f.header + f.body)
		}
		f := &feed{from: strings.NewReader(all.String())}
		ahead := ""
		for i, r := range requests {
			f.exactly(t, ahead, r.header)
			ahead = ""
			if got, want := f.in.header().head, r.request.Method == http.MethodHead; got != want {
				t.Fatalf("head is %v, want %v", got, want)
			}
			early := r.request.Body == http.NoBody && i+1 < len(requests) && rapid.Bool().Draw(t, "early")
			if early { // net/http reads ahead before the handler begins
				ahead = f.read(t, 1)
			}
			if got := f.in.startBody(r.request); got != r.uncertain {
				t.Fatalf("startBody returned %v, want %v", got, r.uncertain)
			}
			f.exactly(t, "", r.body)
			if !early && i+1 < len(requests) && rapid.Bool().Draw(t, "ahead") {
				ahead = f.read(t, 1)
			}
			if !f.in.endBody() {
				t.Fatal("the body has not been passed on completely")
			}
		}
	})
}

// TestCloseWithKeptInput checks that Close takes effect for net/http at once, even if a
// response is still to be sent. Pending input counts as a request, unless it is empty lines.
func TestCloseWithKeptInput(t *testing.T) {
	t.Parallel()
	for kept, want := range map[string]string{"G": `{"error":503,`, "\r\n": "", "": ""} {
		near, far := net.Pipe()
		s := New(testConfigWith(nil))
		defer s.forceClose()
		c := &conn{acceptedConn: &acceptedConn{Conn: near, server: s}, framing: framing{pending: []byte(kept)}}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		_ = far.SetDeadline(time.Now().Add(patience))
		if n, err := c.Read(make([]byte, 9)); n != 0 || !errors.Is(err, net.ErrClosed) {
			t.Errorf("kept %q: read %d bytes, %v, want %v", kept, n, err, net.ErrClosed)
		}
		if _, err := c.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("kept %q: written, %v, want %v", kept, err, net.ErrClosed)
		}
		response, err := io.ReadAll(far)
		if err != nil || !strings.Contains(string(response), want) || want == "" && len(response) > 0 {
			t.Errorf("kept %q: %q, %v, want %q", kept, response, err, want)
		}
		s.background.Wait()
	}
}

// A pipe is a listener with one connection. Its writes return when they were read.
type pipe struct {
	conn   net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipe) Accept() (nc net.Conn, err error) {
	p.once.Do(func() { nc = p.conn })
	if nc == nil {
		<-p.closed
		return nil, net.ErrClosed
	}
	return nc, nil
}

func (p *pipe) Close() error   { close(p.closed); return nil }
func (p *pipe) Addr() net.Addr { return p.conn.LocalAddr() }

// TestManyLinesInTwoPieces checks that too many lines are refused also if the first read ends
// with a line, after which net/http reads again for a continuation.
func TestManyLinesInTwoPieces(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	s := startOn(t, &pipe{conn: far, closed: make(chan struct{})})
	c := &client{Conn: near, t: t, in: bufio.NewReader(near)}
	c.send("POST /good HTTP/1.1\r\nHost: x\r\n")
	go func() { _, _ = io.WriteString(near, strings.Repeat("X: y\r\n", maxHeaderLines)+"\r\n{\"a\":1}") }()
	c.wantError(models.CodeHeaderTooLarge)
	_ = near.Close()
	if paths := s.paths(); len(paths) > 0 {
		t.Errorf("the handler received %q", paths)
	}
}

// TestScanManyCRs checks that CRs before the request line, however many, do not make the next
// line the request line.
func TestScanManyCRs(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		var h header
		text := strings.Repeat("\r", n) + "POST /plants HTTP/1.1\r\nHEAD / HTTP/1.1\r\n\r\n"
		if length, err := h.scan([]byte(text)); err != nil || length != len(text) {
			t.Fatalf("%d CRs: %d of %d bytes, %v", n, length, len(text), err)
		}
		if !h.begun || h.head || h.lines != 2 {
			t.Errorf("%d CRs: %+v", n, h)
		}
	}
}
