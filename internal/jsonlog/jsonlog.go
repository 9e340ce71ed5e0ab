// Package jsonlog writes log records as [slog.JSONHandler] does, byte for byte, and
// the usual ones in half the time: there is one for each request.
package jsonlog

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// usualLine is the size in bytes that most lines do not exceed, and keptLine the
// one up to which their memory is kept.
const (
	usualLine = 512
	keptLine  = 16 << 10
)

// A handler writes records that have nothing but plain text and whole numbers, and
// leaves all others to slog's own.
type handler struct {
	slog.Handler // which has the options

	w     io.Writer
	lines sync.Pool // of *[]byte
}

// NewHandler returns a handler like that of [slog.NewJSONHandler], of whose options
// it takes the level alone; nil means [slog.LevelInfo]. It writes each record at
// once, and one at a time.
func NewHandler(w io.Writer, level slog.Leveler) slog.Handler {
	shared := &oneAtATime{w: w}
	return &handler{
		Handler: slog.NewJSONHandler(shared, &slog.HandlerOptions{Level: level}),
		w:       shared,
		lines:   sync.Pool{New: func() any { return new(make([]byte, 0, usualLine)) }},
	}
}

// A oneAtATime is a writer for handlers that do not know of each other.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements [io.Writer].
func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	memory := h.lines.Get().(*[]byte) //nolint:forcetypeassert // nothing else is put there
	line, usual := appendRecord((*memory)[:0], &r)
	defer func() {
		if *memory = line; cap(line) <= keptLine {
			h.lines.Put(memory)
		}
	}()
	if !usual {
		return h.Handler.Handle(ctx, r)
	}
	_, err := h.w.Write(line)
	return err
}

// appendRecord appends the line of a record, or says that it is no usual one.
func appendRecord(line []byte, r *slog.Record) (_ []byte, usual bool) {
	if year := r.Time.Year(); r.Time.IsZero() || year < 0 || year > 9999 {
		return line, false
	}
	line = append(line, `{"time":"`...)
	line = r.Time.AppendFormat(line, time.RFC3339Nano)
	line = append(line, `","level":"`...)
	line = append(line, r.Level.String()...)
	line = append(line, `","msg":`...)
	line, usual = AppendPlain(line, r.Message)
	if !usual {
		return line, false
	}
	r.Attrs(func(a slog.Attr) bool {
		line, usual = appendAttr(line, a)
		return usual
	})
	return append(line, "}\n"...), usual
}

// appendAttr appends what an attribute adds to a line.
func appendAttr(line []byte, a slog.Attr) (_ []byte, usual bool) {
	if a.Key == "" {
		return appendInline(line, a.Value)
	}
	line = append(line, ',')
	line, usual = AppendPlain(line, a.Key)
	line = append(line, ':')
	switch a.Value.Kind() {
	case slog.KindString:
		var plain bool
		line, plain = AppendPlain(line, a.Value.String())
		return line, usual && plain
	case slog.KindInt64:
		return strconv.AppendInt(line, a.Value.Int64(), 10), usual
	case slog.KindDuration:
		return strconv.AppendInt(line, int64(a.Value.Duration()), 10), usual
	default:
		return line, false
	}
}

// appendInline appends what an attribute without a key adds to a line: the
// attributes of a group.
func appendInline(line []byte, v slog.Value) (_ []byte, usual bool) {
	if v.Kind() != slog.KindGroup {
		return line, false
	}
	for _, a := range v.Group() {
		if line, usual = appendAttr(line, a); !usual {
			return line, false
		}
	}
	return line, true
}

// AppendPlain appends text to line as a string of JSON, or returns false if it is
// more than printable ASCII that needs no escapes.
func AppendPlain(line []byte, text string) (_ []byte, plain bool) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return line, false
		}
	}
	line = append(line, '"')
	line = append(line, text...)
	return append(line, '"'), true
}
