package server

import (
	"encoding/binary"
	"time"

	"golang.org/x/net/http2"
)

const (
	// frameHeadLen is the length of the head of a frame (RFC 9113, 4.1).
	frameHeadLen = 9
	// maxFrame bounds an incoming frame: the minimum of HTTP/2.
	maxFrame = 1 << 14
)

// A frameCursor is a position in a stream of HTTP/2 frames.
type frameCursor struct {
	head [frameHeadLen]byte // of the current frame
	have int                // bytes of head that were seen
	left int                // bytes of the payload that follow
}

// advance moves past the rest of a head, or past payload, at the start of p. It returns the
// payload and the rest of p.
func (f *frameCursor) advance(p []byte) (payload, rest []byte) {
	if f.known() && f.left == 0 {
		f.have = 0
	}
	if f.known() {
		n := min(f.left, len(p))
		f.left -= n
		return p[:n], p[n:]
	}
	n := copy(f.head[f.have:], p)
	if f.have += n; f.known() {
		f.left = int(binary.BigEndian.Uint32(f.head[:]) >> 8)
	}
	return nil, p[n:]
}

// known reports whether the head of the current frame is complete.
func (f *frameCursor) known() bool { return f.have == frameHeadLen }

func (f *frameCursor) kind() http2.FrameType { return http2.FrameType(f.head[3]) }

func (f *frameCursor) flags() http2.Flags { return http2.Flags(f.head[4]) }

func (f *frameCursor) stream() uint32 { return binary.BigEndian.Uint32(f.head[5:]) }

// A frameClock measures how long the client has been sending something incomplete: a header
// block, which may take several frames (RFC 9113, 4.3), or any other frame except DATA, which
// belongs to a request with its own deadline. net/http waits for the rest until the connection
// counts as idle, and without limit while another request is in progress.
type frameClock struct {
	preface int // bytes of it that were received
	frame   frameCursor
	open    bool      // a header block continues in the next frame
	since   time.Time // when the incomplete part began; zero if there is none
}

// follow tracks input.
func (c *frameClock) follow(p []byte, now time.Time) {
	n := min(len(p), len(http2.ClientPreface)-c.preface)
	c.preface += n
	for rest := p[n:]; len(rest) > 0; {
		if c.since.IsZero() {
			c.since = now
		}
		if _, rest = c.frame.advance(rest); c.frame.known() {
			c.update()
		}
	}
}

// update evaluates the current frame after its head is complete.
func (c *frameClock) update() {
	kind := c.frame.kind()
	if kind == http2.FrameHeaders || kind == http2.FrameContinuation {
		c.open = !c.frame.flags().Has(http2.FlagHeadersEndHeaders)
	}
	if !c.open && (c.frame.left == 0 || kind == http2.FrameData) {
		c.since = time.Time{}
	}
}
