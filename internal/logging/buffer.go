package logging

import (
	"cmp"
	"errors"
	"io"
	"sync"
	"time"
)

// maxPending bounds the bytes that wait to be written, and also the bytes of the
// write in progress.
const maxPending = 1 << 20

// patience is how long a full buffer blocks writes before it drops them, and how long Close
// waits.
const patience = 2 * time.Second

// ErrStalled is returned when the underlying writer has stalled.
var ErrStalled = errors.New("the log cannot be written: its reader has stalled")

// pause is the time between two writes. With one write for each line the server would lose a
// fifth of its throughput with 64 clients; with the pause it loses less than a tenth.
const pause = 2 * time.Millisecond

// A Buffer is an [io.Writer] that writes to another one in the background, in order: each write
// takes all bytes that were buffered since the previous one. A single line is written at once;
// under load one system call writes the lines of two milliseconds.
//
// Lines that are still buffered when the process is killed are lost. A full buffer
// blocks for up to two seconds; then it drops lines, since a log whose reader has
// stalled must not stop the server.
type Buffer struct {
	w    io.Writer
	lost func(writes uint64) []byte
	done chan struct{} // closed when the last write is done

	mu      sync.Mutex
	changed sync.Cond // of pending, closed, or the time
	pending []byte
	since   time.Time // of the first write to pending, or of the last flush
	dropped uint64
	noted   uint64 // number of dropped writes that the log mentions
	closed  bool
	err     error // first error of w
}

// NewBuffer returns a Buffer over w, to which only the Buffer may write until Close
// returns. The result of lost is written instead of dropped writes.
func NewBuffer(w io.Writer, lost func(writes uint64) []byte) *Buffer {
	b := &Buffer{w: w, lost: lost, done: make(chan struct{})}
	b.changed.L = &b.mu
	go b.run()
	return b
}

// Dropped returns the number of dropped writes.
func (b *Buffer) Dropped() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped
}

// Write implements [io.Writer]. Errors of the underlying writer are returned by
// Close. After Close it writes through, and returns [ErrStalled] if it cannot.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaitSpace(len(p))
	if b.closed {
		select {
		case <-b.done:
			return b.w.Write(p)
		default:
			return 0, ErrStalled
		}
	}
	if !b.hasSpace(len(p)) {
		b.dropped++
		return len(p), nil
	}
	if len(b.pending) == 0 {
		b.since = time.Now()
	}
	b.pending = append(b.pending, p...)
	b.changed.Broadcast()
	return len(p), nil
}

// hasSpace reports whether n more bytes fit. An empty buffer takes any number. The
// caller holds b.mu, as for awaitSpace.
func (b *Buffer) hasSpace(n int) bool { return len(b.pending) == 0 || len(b.pending)+n <= maxPending }

// awaitSpace waits until n more bytes fit, or the underlying writer has stalled.
func (b *Buffer) awaitSpace(n int) {
	for !b.closed && !b.hasSpace(n) {
		left := patience - time.Since(b.since)
		if left <= 0 {
			return
		}
		wake := time.AfterFunc(left, func() {
			b.mu.Lock() // so that Wait has begun
			defer b.mu.Unlock()
			b.changed.Broadcast()
		})
		b.changed.Wait()
		wake.Stop()
	}
}

// run writes until Close is called and the buffer is empty.
func (b *Buffer) run() {
	defer close(b.done)
	for lines := b.take(nil); len(lines) > 0; lines = b.take(lines) {
		if _, err := b.w.Write(lines); err != nil {
			b.mu.Lock()
			b.err = cmp.Or(b.err, err)
			b.mu.Unlock()
		}
		time.Sleep(pause)
	}
}

// take waits for lines and returns them, or none after Close. The buffer continues in
// the memory of spare.
func (b *Buffer) take(spare []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.pending) == 0 && !b.closed {
		b.changed.Wait()
	}
	lines := b.pending
	b.pending, b.since = spare[:0], time.Now()
	if n := b.dropped - b.noted; n > 0 { // most of these lines are older
		lines, b.noted = append(lines, b.lost(n)...), b.dropped
	}
	b.changed.Broadcast()
	return lines
}

// Close flushes the buffer, for at most two seconds, and returns [ErrStalled] if
// that is too short, or else the first error of the underlying writer. A second
// call does the same.
func (b *Buffer) Close() error {
	b.mu.Lock()
	b.closed = true
	b.changed.Broadcast()
	b.mu.Unlock()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-b.done:
	case <-timeout.C:
		return ErrStalled
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
