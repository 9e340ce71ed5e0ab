// Package backlog takes the waiting for a slow writer, such as the file of a log,
// from those who write to it.
package backlog

import (
	"cmp"
	"errors"
	"io"
	"sync"
	"time"
)

// maxBytes bounds what waits to be passed on, and again what is being passed on.
// Who has more to say waits, but not for long.
const maxBytes = 1 << 20

// patience bounds how long Close waits, and how long all those together that find no
// room.
const patience = 2 * time.Second

// ErrStuck is the error of a Writer whose own writer takes nothing any more.
var ErrStuck = errors.New("what was written is not taken")

// A Writer passes on what is written to it, in the same order: whatever has come
// while the last portion was being written is the next portion. So a line that
// comes alone is passed on at once, and many at a time cost little each. What has
// not been passed on when the process is killed is lost. So is what finds no room for
// two seconds, as when nobody reads any more: a log must not stop those who write it.
type Writer struct {
	to    io.Writer
	lost  func(writes uint64) []byte
	ended chan struct{} // closed when nothing is passed on any more

	mu      sync.Mutex
	changed sync.Cond // waiting, closing, or whether it is stuck
	waiting []byte
	since   time.Time // when something last began to wait, or what waited was taken
	dropped uint64
	told    uint64 // of those dropped
	closing bool
	err     error // the first of writing
}

// New returns a Writer that passes on to w until it is closed. Nobody else may
// write to w until then. Where writes were dropped, what lost makes of their number
// takes their place, unless it is nil.
func New(w io.Writer, lost func(writes uint64) []byte) *Writer {
	b := &Writer{to: w, lost: lost, ended: make(chan struct{})}
	b.changed.L = &b.mu
	go b.run()
	return b
}

// Dropped returns how many writes found no room so far.
func (b *Writer) Dropped() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped
}

// Write implements [io.Writer]. It fails after Close only, when it writes through;
// what else goes wrong, Close says.
func (b *Writer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaitRoom(len(p))
	if b.closing {
		select {
		case <-b.ended:
			return b.to.Write(p)
		default:
			return 0, ErrStuck // Close waits, or has given up
		}
	}
	if !b.hasRoom(len(p)) {
		b.dropped++
		return len(p), nil
	}
	if len(b.waiting) == 0 {
		b.since = time.Now()
	}
	b.waiting = append(b.waiting, p...)
	b.changed.Broadcast()
	return len(p), nil
}

// hasRoom reports whether n more bytes may wait. The caller holds b.mu, as that of
// awaitRoom does. However many bytes come, they may be the first.
func (b *Writer) hasRoom(n int) bool { return len(b.waiting) == 0 || len(b.waiting)+n <= maxBytes }

// awaitRoom waits until there is room for n more bytes, or the writer behind has taken
// nothing for so long that it must be stuck: then nobody waits any more.
func (b *Writer) awaitRoom(n int) {
	for !b.closing && !b.hasRoom(n) {
		left := patience - time.Since(b.since)
		if left <= 0 {
			return
		}
		wake := time.AfterFunc(left, func() {
			b.mu.Lock() // so that it does not come before Wait
			defer b.mu.Unlock()
			b.changed.Broadcast()
		})
		b.changed.Wait()
		wake.Stop()
	}
}

// run passes on until Close is called and nothing is left.
func (b *Writer) run() {
	defer close(b.ended)
	for portion := b.take(nil); len(portion) > 0; portion = b.take(portion) {
		if _, err := b.to.Write(portion); err != nil {
			b.mu.Lock()
			b.err = cmp.Or(b.err, err)
			b.mu.Unlock()
		}
	}
}

// take waits for something to pass on, and gives memory in exchange.
func (b *Writer) take(memory []byte) (portion []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.waiting) == 0 && !b.closing {
		b.changed.Wait()
	}
	portion, b.waiting, b.since = b.waiting, memory[:0], time.Now()
	if n := b.dropped - b.told; n > 0 && b.lost != nil { // most of what waited came before them
		portion, b.told = append(portion, b.lost(n)...), b.dropped
	}
	b.changed.Broadcast() // there is room
	return portion
}

// Close passes on what is left, for at most two seconds: nobody may be reading.
// Then it returns ErrStuck, or else the first error of writing. Closing again does
// nothing more.
func (b *Writer) Close() error {
	b.mu.Lock()
	b.closing = true
	b.changed.Broadcast()
	b.mu.Unlock()
	enough := time.NewTimer(patience)
	defer enough.Stop()
	select {
	case <-b.ended:
	case <-enough.C:
		return ErrStuck
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
