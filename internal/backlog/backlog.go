// Package backlog takes the waiting for a slow writer, such as the file of a log,
// from those who write to it.
package backlog

import (
	"io"
	"sync"
)

// maxBytes bounds what waits to be passed on, and again what is being passed on.
// Who has more to say waits.
const maxBytes = 1 << 20

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
	err     error // of the last attempt to write
}

// New returns a Writer that passes on to w until it is closed. Nobody else may
// write to w until then.
func New(w io.Writer) *Writer {
	b := &Writer{to: w, ended: make(chan struct{})}
	b.changed.L = &b.mu
	go b.run()
	return b
}

// Write implements [io.Writer]. The error is that of an earlier write, of which
// the lines are lost. After Close it writes through.
func (b *Writer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.waiting) > 0 && len(b.waiting)+len(p) > maxBytes && !b.closing {
		b.changed.Wait()
	}
	if b.closing {
		b.mu.Unlock()
		<-b.ended
		b.mu.Lock()
		return b.to.Write(p)
	}
	if b.err != nil {
		err := b.err
		b.err = nil
		return 0, err
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
			b.err = err
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

// Close passes on what is left, and returns the error of an earlier write that
// nobody has been told of. Closing again does nothing.
func (b *Writer) Close() error {
	b.mu.Lock()
	b.closing = true
	b.changed.Broadcast()
	b.mu.Unlock()
	<-b.ended
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.err
	b.err = nil
	return err
}
