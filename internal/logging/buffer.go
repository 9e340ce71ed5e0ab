package logging

import (
	"bufio"
	"io"
	"sync"
	"time"
)

const (
	// bufferSize is the size of a buffer in bytes.
	bufferSize = 64 << 10
	// flushInterval is how long a line stays in a buffer at most. With one system call for each
	// line the server would lose a fifth of its throughput with 64 clients.
	flushInterval = 20 * time.Millisecond
)

// A Buffer is a buffered writer that is safe for concurrent use. It writes whole lines. Lines
// that it has when the process is killed are lost. A write blocks while the underlying writer does.
type Buffer struct {
	mu    sync.Mutex
	w     io.Writer
	out   *bufio.Writer
	timer *time.Timer // flushes
}

// NewBuffer returns a Buffer over w. It flushes itself, but not at exit.
func NewBuffer(w io.Writer) *Buffer {
	b := &Buffer{w: w, out: bufio.NewWriterSize(w, bufferSize)}
	b.timer = time.AfterFunc(flushInterval, b.Flush)
	return b
}

// Write implements [io.Writer]. It ignores errors of the underlying writer: a log that cannot be
// written must not stop the server.
func (b *Buffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(line) > b.out.Available() {
		b.flush()
	}
	if b.out.Buffered() == 0 {
		b.timer.Reset(flushInterval)
	}
	_, _ = b.out.Write(line) // flush drops the error
	return len(line), nil
}

// Flush writes the buffered lines.
func (b *Buffer) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
}

// flush is Flush for a caller that holds b.mu.
func (b *Buffer) flush() {
	if b.out.Flush() != nil {
		b.out.Reset(b.w) // later lines may be written, such as when a disk has space again
	}
}
