// Package audit records who created which plant, as the [storage.Recorder] of a
// store. A create succeeds only after its line is written. While the audit log cannot
// be written, the store accepts no creates.
package audit

import (
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"plantstore/internal/printable"
	"plantstore/storage"
)

// The events.
const (
	created = "created"
	unknown = "unknown" // whether the plant was stored is unknown
	reset   = "reset"   // all plants were replaced by the seed
)

var _ storage.Recorder = (*Log)(nil)

// Ready implements [storage.Recorder]. While the log cannot be written it returns
// [storage.ErrUnavailable] or [storage.ErrNoSpace].
func (l *Log) Ready() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// Record implements [storage.Recorder].
func (l *Log) Record(outcomes []storage.Outcome) error {
	var lines []byte
	now := time.Now().UTC()
	for _, o := range outcomes {
		if event := eventOf(o.Err); event != "" {
			lines = appendLine(lines, now, event, o.ID, o.Actor)
		}
	}
	if lines == nil {
		return nil
	}
	return l.append(lines)
}

// RecordReset implements [storage.Recorder].
func (l *Log) RecordReset() error {
	return l.append(append(appendEvent(nil, time.Now().UTC(), reset), byOperator...))
}

// eventOf returns the event to record for a create with that outcome, "" if none.
func eventOf(outcome error) string {
	switch {
	case outcome == nil:
		return created
	case errors.Is(outcome, storage.ErrUnknown):
		return unknown
	}
	return ""
}

const (
	// lineStart is how each line begins.
	lineStart = `{"time":"`
	// timeLayout is RFC 3339 in UTC with microseconds.
	timeLayout = "2006-01-02T15:04:05.000000Z"
	// byOperator is how a line without an actor ends.
	byOperator = `,"by":"operator"}` + "\n"
)

// appendLine appends a line of JSON: time, event, id and actor of a create.
func appendLine(lines []byte, now time.Time, event string, id int64, actor *storage.Actor) []byte {
	lines = append(appendEvent(lines, now, event), `,"id":`...)
	lines = strconv.AppendInt(lines, id, 10)
	if actor == nil {
		return append(lines, byOperator...)
	}
	lines = appendString(append(lines, `,"by":"token","subject":`...), actor.Subject)
	lines = appendString(append(lines, `,"request_id":`...), actor.RequestID)
	lines = appendString(append(lines, `,"remote":`...), actor.Remote)
	return append(lines, "}\n"...)
}

// appendEvent appends the beginning of a line: time and event.
func appendEvent(lines []byte, now time.Time, event string) []byte {
	lines = now.AppendFormat(append(lines, lineStart...), timeLayout)
	lines = append(lines, `","event":"`...)
	return append(append(lines, event...), '"')
}

// appendString appends a JSON string. Invalid UTF-8 becomes U+FFFD, and characters that affect a
// terminal are escaped.
func appendString(lines []byte, s string) []byte {
	quoted, _ := jsontext.AppendQuote(nil, s) // its only error is invalid UTF-8
	return printable.Append(lines, quoted)
}
