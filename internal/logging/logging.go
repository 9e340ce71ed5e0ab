// Package logging writes the log of the server: records of [log/slog], through a
// [Buffer], so that requests don't wait for a slow reader of the log.
package logging

import (
	"bytes"
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"

	"plantstore/internal/printable"
)

// A Format is the form of the records.
type Format int

// The formats.
const (
	JSON  Format = iota // for programs
	Text                // for people
	Color               // for people at a terminal: by level
)

// New returns a logger of records from level up, and the buffer over w that it writes to. The
// buffer must be closed, which flushes it.
func New(w io.Writer, format Format, level slog.Leveler) (*slog.Logger, *Buffer) {
	b := NewBuffer(w, func(lines uint64) []byte {
		var record bytes.Buffer
		slog.New(newHandler(&record, format, nil)).Error("log lines lost", "lines", lines)
		return record.Bytes()
	})
	return slog.New(newHandler(b, format, level)), b
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
// come from a client.
func escaped(_ []string, attr slog.Attr) slog.Attr {
	kind := attr.Value.Kind() // the others have no text of clients
	if kind == slog.KindString || kind == slog.KindAny && attr.Key != slog.LevelKey {
		attr.Value = slog.StringValue(printable.Line(attr.Value.String()))
	}
	return attr
}
