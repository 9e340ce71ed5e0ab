// Package logging writes the log of the server: records of [log/slog], through a
// [Buffer], so that requests don't wait for a slow reader of the log.
package logging

import (
	"bytes"
	"io"
	"log/slog"
)

// New returns a logger of records from level up, as text for people or else as
// JSON for programs, and the buffer over w that it writes to. The buffer must be
// closed, which flushes it.
func New(w io.Writer, text bool, level slog.Leveler) (*slog.Logger, *Buffer) {
	b := NewBuffer(w, func(lines uint64) []byte {
		var record bytes.Buffer
		slog.New(newHandler(&record, text, nil)).Error("log lines lost", "lines", lines)
		return record.Bytes()
	})
	return slog.New(newHandler(b, text, level)), b
}

func newHandler(w io.Writer, text bool, level slog.Leveler) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	if text {
		return slog.NewTextHandler(w, options)
	}
	return slog.NewJSONHandler(w, options)
}
