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

// errReset says that the server has ended a stream, or the connection, which is how
// HTTP/2 refuses what is malformed (RFC 9113, 8.1.1).
var errReset = errors.New("no answer, but an error of HTTP/2")

// mostFrame is how large a frame may be that every server takes (RFC 9113, 4.2).
const mostFrame = 1 << 14

// A lineTwo is an open connection of HTTP/2.
type lineTwo struct {
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
	failure error // why nothing more comes
}

// A stream is one exchange.
type stream struct {
	heard

	window int64
	err    error
	ended  bool
	done   chan struct{} // closed when all of the answer has come, or none will
}

// talkTwo is [runner.talk] in HTTP/2.
func (r *runner) talkTwo(ctx context.Context, t Talk, v values, nc net.Conn) ([]heard, error) {
	requests, err := t.inTwo(v)
	if err != nil {
		return nil, err
	}
	l := newLineTwo(nc)
	if err := l.greet(); err != nil {
		return nil, err
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	defer func() { _ = l.Close() }()
	reading.Go(l.read)
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	all, err := l.converse(t, requests)
	inOrder(requests, all)
	switch {
	case errors.Is(err, errReset) && t.Resets:
		return all, errMayReset
	case err != nil || t.More || t.After != AfterKept:
		return all, r.explain(err)
	}
	probe, err := Talk{Send: []Request{bare("POST {{path}}/plants")}}.inTwo(v)
	if err == nil {
		_, err = l.converse(Talk{Want: make([]Answer, 1)}, probe)
	}
	if err != nil {
		return all, fmt.Errorf("the connection is not kept: %w", err)
	}
	return all, nil
}

// errMayReset says that a stream was reset where that is right.
var errMayReset = fmt.Errorf("%w, as it may be", errReset)

func newLineTwo(nc net.Conn) *lineTwo {
	l := &lineTwo{
		Conn: nc, framer: http2.NewFramer(nc, nc), streams: make(map[uint32]*stream),
		next: 1, window: 1<<16 - 1, initial: 1<<16 - 1,
	}
	l.changed.L = &l.mu
	l.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	l.encoder = hpack.NewEncoder(&l.block)
	return l
}

// greet begins the connection (RFC 9113, 3.4).
func (l *lineTwo) greet() error {
	if _, err := l.Write([]byte(http2.ClientPreface)); err != nil {
		return err
	}
	if err := l.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: heardLimit}); err != nil {
		return err
	}
	return l.framer.WriteWindowUpdate(0, 1<<30)
}

// converse is [line.converse].
func (l *lineTwo) converse(t Talk, requests []requestTwo) ([]heard, error) {
	var all []heard
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
			all = append(all, s.heard)
		}
		waiting = nil
	}
	return all, nil
}

// inOrder puts successes first among the answers to the same request: streams have
// no order, so that of creates of one id that are sent at once any may be the first.
func inOrder(requests []requestTwo, all []heard) {
	for i := range all {
		for j := range i {
			if all[i].status < all[j].status && requests[i].equal(requests[j]) {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
}

// open begins a stream with the header of a request.
func (l *lineTwo) open(request requestTwo) (*stream, uint32, error) {
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
	first := block[:min(mostFrame, len(block))]
	err := l.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: first, EndHeaders: len(first) == len(block),
		EndStream: len(request.body) == 0 && !request.unending,
	})
	for block = block[len(first):]; err == nil && len(block) > 0; {
		more := block[:min(mostFrame, len(block))]
		block = block[len(more):]
		err = l.framer.WriteContinuation(id, len(block) == 0, more)
	}
	return s, id, err
}

// send sends the body of a request, as far as the server takes it.
func (l *lineTwo) send(s *stream, id uint32, request requestTwo) {
	most := int64(mostFrame)
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
		last := n == int64(len(body)) && !request.unending
		if l.framer.WriteData(id, last, body[:n]) != nil { // reading finds out, too
			return
		}
		body = body[n:]
	}
}

// read takes in what the server says until the connection ends.
func (l *lineTwo) read() {
	for {
		frame, err := l.framer.ReadFrame()
		l.mu.Lock()
		if err == nil {
			err = l.take(frame)
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

// take takes in a frame.
func (l *lineTwo) take(frame http2.Frame) error {
	s, id := l.streams[frame.Header().StreamID], frame.Header().StreamID
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		return l.settle(f)
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
			return fmt.Errorf("an answer on stream %d, which was not opened", id)
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

// settle takes in what the server sets.
func (l *lineTwo) settle(f *http2.SettingsFrame) error {
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

// begin takes in the header of an answer.
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

// end ends the stream. What comes later does not count: a server may reset a
// stream whose answer is complete.
func (s *stream) end(err error) {
	if !s.ended {
		s.ended, s.err = true, err
		close(s.done)
	}
}
