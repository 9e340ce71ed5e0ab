// Package logging writes the log of the server: records of [log/slog], through a
// [Buffer], so that one system call writes the lines of many requests.
package logging

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/lmittmann/tint"
)

// A Format is the form of the records.
type Format int

// The formats.
const (
	JSON  Format = iota // for programs
	Text                // for people
	Color               // for people at a terminal: by level
)

// New returns a logger of records from level up, and the buffer over w that it writes to, which
// must be flushed at exit. A record of an error is written at once.
func New(w io.Writer, format Format, level slog.Leveler) (*slog.Logger, *Buffer) {
	b := NewBuffer(w)
	return slog.New(flushing{newHandler(b, format, level), b}), b
}

// flushing is a handler that flushes the buffer after each error.
type flushing struct {
	slog.Handler

	buffer *Buffer
}

// Handle implements [slog.Handler].
func (f flushing) Handle(ctx context.Context, record slog.Record) error {
	err := f.Handler.Handle(ctx, record)
	if record.Level >= slog.LevelError {
		f.buffer.Flush()
	}
	return err
}

// WithAttrs implements [slog.Handler].
func (f flushing) WithAttrs(attrs []slog.Attr) slog.Handler {
	return flushing{f.Handler.WithAttrs(attrs), f.buffer}
}

func newHandler(w io.Writer, format Format, level slog.Leveler) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	switch format {
	case Text:
		return slog.NewTextHandler(w, options)
	case Color:
		return tint.NewTextHandler(w, &tint.Options{Level: level, ReplaceAttr: escaped, TimeFormat: time.TimeOnly})
	default:
		return slog.NewJSONHandler(w, options)
	}
}

// escaped makes the text of an attribute printable: tint passes escape sequences on, which may
// come from a client. Milliseconds become a duration with its unit. Empty attributes are omitted.
func escaped(_ []string, attr slog.Attr) slog.Attr {
	kind := attr.Value.Kind() // the others have no text of clients
	name, inMilliseconds := strings.CutSuffix(attr.Key, "_ms")
	switch {
	case attr.Value.Equal(slog.StringValue("")):
		return slog.Attr{}
	case kind == slog.KindString || kind == slog.KindAny && attr.Key != slog.LevelKey:
		attr.Value = slog.StringValue(Line(attr.Value.String()))
	case inMilliseconds && kind == slog.KindFloat64:
		return slog.Duration(name, time.Duration(attr.Value.Float64()*float64(time.Millisecond)))
	}
	return attr
}

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
