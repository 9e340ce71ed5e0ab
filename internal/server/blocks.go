package server

import (
	"encoding/binary"
	"time"

	"golang.org/x/net/http2"
)

const frameContinuation = 0x9

// A blockClock tells when the client has begun to send something in HTTP/2 that is not
// complete yet: a header block, which may take several frames (RFC 9113, 4.3), or any
// other frame but one of DATA, which belongs to a request with a deadline of its own.
// net/http waits for the rest until the connection counts as idle, and for ever beside
// a request that goes on.
type blockClock struct {
	preface int // bytes of it that have come
	head    [frameHead]byte
	have    int  // bytes of head
	left    int  // bytes of the frame that are still to come
	open    bool // a header block goes on in the next frame
	since   time.Time
}

// follow notes what has come. Afterwards since is when the first byte came of what is
// incomplete, zero if nothing is.
func (b *blockClock) follow(p []byte, now time.Time) {
	n := min(len(p), len(http2.ClientPreface)-b.preface)
	b.preface += n
	for rest := p[n:]; len(rest) > 0; {
		if b.since.IsZero() {
			b.since = now
		}
		if b.have < frameHead {
			n = copy(b.head[b.have:], rest)
			b.have += n
			if b.have == frameHead {
				b.left = int(binary.BigEndian.Uint32(b.head[:]) >> 8)
			}
		} else {
			n = min(b.left, len(rest))
			b.left -= n
		}
		rest = rest[n:]
		if b.have == frameHead {
			b.judge()
		}
	}
}

// judge is called when the head of the current frame is known.
func (b *blockClock) judge() {
	kind, flags := b.head[3], b.head[4]
	if kind == frameHeaders || kind == frameContinuation {
		b.open = flags&flagEndHeaders == 0
	}
	if b.left == 0 {
		b.have = 0
	}
	if !b.open && (b.left == 0 || kind == frameData) {
		b.since = time.Time{}
	}
}

// Read implements [io.Reader]. What has begun must be complete within HeaderTimeout.
func (t *two) Read(p []byte) (int, error) {
	t.mu.Lock()
	err := t.applyDeadline()
	t.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err := t.Conn.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock.follow(p[:n], time.Now())
	return n, err
}

// SetReadDeadline implements [net.Conn].
func (t *two) SetReadDeadline(deadline time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deadline = deadline
	return t.applyDeadline()
}

// applyDeadline makes the earlier of both deadlines that of the connection itself. The
// caller holds t.mu.
func (t *two) applyDeadline() error {
	deadline := t.deadline
	if !t.clock.since.IsZero() {
		last := t.clock.since.Add(t.conn.server.config.HeaderTimeout)
		if deadline.IsZero() || last.Before(deadline) {
			deadline = last
		}
	}
	if t.applied.Equal(deadline) {
		return nil
	}
	t.applied = deadline
	return t.Conn.SetReadDeadline(deadline)
}
