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
// Who has more to say waits.
const maxBytes = 1 << 20

// patience bounds how long Close waits.
const patience = 2 * time.Second

// ErrStuck is the error of a Writer whose own writer takes nothing any more.
var ErrStuck = errors.New("what was written is not taken")

// A Writer passes on what is written to it, in the same order: whatever has come
// while the last portion was being written is the next portion. So a line that
// comes alone is passed on at once, and many at a time cost little each. What has
// not been passed on when the process is killed is lost.
type Writer struct {
	to    io.Writer
	ended chan struct{} // closed when nothing is passed on any more

	mu      sync.Mutex
	changed sync.Cond // waiting, or closing
	waiting []byte
	closing bool
	err     error // the first of writing
}

// New returns a Writer that passes on to w until it is closed. Nobody else may
// write to w until then.
func New(w io.Writer) *Writer {
	b := &Writer{to: w, ended: make(chan struct{})}
	b.changed.L = &b.mu
	go b.run()
	return b
}

// Write implements [io.Writer]. It fails after Close only, when it writes through;
// what else goes wrong, Close says.
func (b *Writer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.waiting) > 0 && len(b.waiting)+len(p) > maxBytes && !b.closing {
		b.changed.Wait()
	}
	if b.closing {
		select {
		case <-b.ended:
			return b.to.Write(p)
		default:
			return 0, ErrStuck // Close waits, or has given up
		}
	}
	b.waiting = append(b.waiting, p...)
	b.changed.Broadcast()
	return len(p), nil
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
	portion, b.waiting = b.waiting, memory[:0]
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
