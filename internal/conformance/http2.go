package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// errReset means that the server reset a stream or ended the connection: HTTP/2 refuses
// malformed requests this way (RFC 9113, 8.1.1).
var errReset = errors.New("no response, but an error of HTTP/2")

// maxFrame is the frame size in bytes that every server accepts (RFC 9113, 4.2).
const maxFrame = 1 << 14

// An http2Conn is an open connection of HTTP/2.
type http2Conn struct {
	net.Conn

	framer *http2.Framer

	mu      sync.Mutex // guards the following, and writing
	changed sync.Cond  // a window has grown, or the connection has ended
	block   bytes.Buffer
	encoder *hpack.Encoder
	streams map[uint32]*stream
	next    uint32
	window  int64 // of the connection
	initial int64 // of a new stream
	failure error // why the connection ended
}

// A stream is a request and its response.
type stream struct {
	received

	window int64
	err    error
	ended  bool
	done   chan struct{} // closed when the response is complete, or the stream has failed
}

// exchangeHTTP2 is [runner.exchange] in HTTP/2.
func (r *runner) exchangeHTTP2(ctx context.Context, t Exchange, v values, nc net.Conn) ([]received, error) {
	requests, err := t.http2(v)
	if err != nil {
		return nil, err
	}
	l := newHTTP2Conn(nc)
	if err := l.handshake(); err != nil {
		return nil, err
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	defer func() { _ = l.Close() }()
	reading.Go(l.read)
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	all, err := l.exchange(t, requests)
	sortSuccesses(requests, all)
	switch {
	case errors.Is(err, errReset) && t.Resets:
		return all, errAllowedReset
	case err != nil || t.More || t.After != AfterKept:
		return all, r.describeError(err)
	}
	probe, err := Exchange{Send: []Request{bare("POST {{path}}/plants")}}.http2(v)
	if err == nil {
		_, err = l.exchange(Exchange{Want: make([]Response, 1)}, probe)
	}
	if err != nil {
		return all, fmt.Errorf("the connection is not kept: %w", err)
	}
	return all, nil
}

// errAllowedReset means that a stream was reset where this is allowed.
var errAllowedReset = fmt.Errorf("%w, which is allowed here", errReset)

func newHTTP2Conn(nc net.Conn) *http2Conn {
	l := &http2Conn{
		Conn: nc, framer: http2.NewFramer(nc, nc), streams: make(map[uint32]*stream),
		next: 1, window: 1<<16 - 1, initial: 1<<16 - 1,
	}
	l.changed.L = &l.mu
	l.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	l.encoder = hpack.NewEncoder(&l.block)
	return l
}

// handshake sends the preface of the connection (RFC 9113, 3.4).
func (l *http2Conn) handshake() error {
	if _, err := l.Write([]byte(http2.ClientPreface)); err != nil {
		return err
	}
	if err := l.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxResponse}); err != nil {
		return err
	}
	return l.framer.WriteWindowUpdate(0, 1<<30)
}

// exchange is [conn.exchange] in HTTP/2.
func (l *http2Conn) exchange(t Exchange, requests []http2Request) ([]received, error) {
	var all []received
	var waiting []*stream
	var sending sync.WaitGroup
	defer sending.Wait()
	for i, request := range requests {
		s, id, err := l.open(request)
		if err != nil {
			return all, err
		}
		sending.Go(func() { l.send(s, id, request) })
		waiting = append(waiting, s)
		if t.Pipelined && i < len(requests)-1 {
			continue
		}
		for _, s := range waiting {
			if t.Then == ThenDrop && len(t.Want) == 0 {
				sending.Wait()
				return all, nil
			}
			<-s.done
			if s.err != nil {
				_ = l.Close()
				return all, s.err
			}
			all = append(all, s.received)
		}
		waiting = nil
	}
	return all, nil
}

// sortSuccesses puts successes first among the responses to the same request: streams are
// not ordered, so any of several concurrent creates of an id may succeed.
func sortSuccesses(requests []http2Request, all []received) {
	for i := range all {
		for j := range i {
			if all[i].status < all[j].status && requests[i].equal(requests[j]) {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
}

// open begins a stream with the header of a request.
func (l *http2Conn) open(request http2Request) (*stream, uint32, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure != nil {
		return nil, 0, l.failure
	}
	id, s := l.next, &stream{window: l.initial, done: make(chan struct{})}
	s.header = make(http.Header)
	l.next += 2
	l.streams[id] = s
	l.block.Reset()
	for _, field := range request.fields {
		if err := l.encoder.WriteField(field); err != nil {
			return nil, 0, err
		}
	}
	block := l.block.Bytes()
	first := block[:min(maxFrame, len(block))]
	err := l.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: first, EndHeaders: len(first) == len(block),
		EndStream: len(request.body) == 0 && !request.truncated,
	})
	for block = block[len(first):]; err == nil && len(block) > 0; {
		more := block[:min(maxFrame, len(block))]
		block = block[len(more):]
		err = l.framer.WriteContinuation(id, len(block) == 0, more)
	}
	return s, id, err
}

// send sends the body of a request, as far as flow control allows.
func (l *http2Conn) send(s *stream, id uint32, request http2Request) {
	most := int64(maxFrame)
	if request.size > 0 {
		most = min(most, int64(request.size))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for body := request.body; len(body) > 0; {
		for l.failure == nil && !s.ended && min(s.window, l.window) <= 0 {
			l.changed.Wait()
		}
		if l.failure != nil || s.ended {
			return
		}
		n := min(int64(len(body)), most, s.window, l.window)
		s.window -= n
		l.window -= n
		last := n == int64(len(body)) && !request.truncated
		if l.framer.WriteData(id, last, body[:n]) != nil { // read fails, too
			return
		}
		body = body[n:]
	}
}

// read handles the server's frames until the connection ends.
func (l *http2Conn) read() {
	for {
		frame, err := l.framer.ReadFrame()
		l.mu.Lock()
		if err == nil {
			err = l.handle(frame)
		}
		if err != nil {
			l.failure = err
			for _, s := range l.streams {
				s.end(err)
			}
		}
		l.changed.Broadcast()
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// handle handles a frame. The caller holds l.mu.
func (l *http2Conn) handle(frame http2.Frame) error {
	s, id := l.streams[frame.Header().StreamID], frame.Header().StreamID
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		return l.applySettings(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			return l.framer.WritePing(true, f.Data)
		}
	case *http2.GoAwayFrame:
		if f.ErrCode != http2.ErrCodeNo {
			return fmt.Errorf("%w: %v of the connection", errReset, f.ErrCode)
		}
	case *http2.WindowUpdateFrame:
		switch {
		case id == 0:
			l.window += int64(f.Increment)
		case s != nil:
			s.window += int64(f.Increment)
		}
	case *http2.MetaHeadersFrame:
		if s == nil {
			return fmt.Errorf("a response on stream %d, which was not opened", id)
		}
		return s.begin(f)
	case *http2.DataFrame:
		if s == nil {
			return fmt.Errorf("a body on stream %d, which was not opened", id)
		}
		s.body = append(s.body, f.Data()...)
		if f.StreamEnded() {
			s.end(nil)
		}
	case *http2.RSTStreamFrame:
		if s != nil {
			s.end(fmt.Errorf("%w: %v of the stream", errReset, f.ErrCode))
		}
	}
	return nil
}

// applySettings applies the server's settings.
func (l *http2Conn) applySettings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	if initial, ok := f.Value(http2.SettingInitialWindowSize); ok {
		for _, s := range l.streams {
			s.window += int64(initial) - l.initial
		}
		l.initial = int64(initial)
	}
	return l.framer.WriteSettingsAck()
}

// begin handles the header of a response.
func (s *stream) begin(f *http2.MetaHeadersFrame) error {
	status, err := strconv.Atoi(f.PseudoValue("status"))
	if err != nil {
		return fmt.Errorf("status %q: %w", f.PseudoValue("status"), err)
	}
	if status < http.StatusOK {
		s.continued = s.continued || status == http.StatusContinue
		return nil
	}
	s.status = status
	for _, field := range f.RegularFields() {
		s.header.Add(field.Name, field.Value)
	}
	if f.StreamEnded() {
		s.end(nil)
	}
	return nil
}

// end ends the stream. Later frames are ignored: a server may reset a stream whose
// response is complete.
func (s *stream) end(err error) {
	if !s.ended {
		s.ended, s.err = true, err
		close(s.done)
	}
}
