// Package transfer writes plants to files and brings them back: as JSON Lines or
// as CSV, without losing a byte.
package transfer

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"plantstore/storage"
)

// A Format is the form of a file of plants.
type Format int

const (
	// JSONLines has a NewPlant on each line: {"id":…,"name":…,"tag":…}.
	JSONLines Format = iota
	// CSV is RFC 4180 with the columns id, name and tag. A cell that begins
	// with a quotation mark is a JSON string; any other one stands for itself,
	// and an empty one in the column tag for no tag.
	CSV
)

// ParseFormat returns the format with that name: jsonl or csv.
func ParseFormat(name string) (Format, error) {
	switch name {
	case "jsonl":
		return JSONLines, nil
	case "csv":
		return CSV, nil
	}
	return 0, fmt.Errorf("%q: must be jsonl or csv", name)
}

// FormatOf returns the format of a file with that name: CSV if it ends so.
func FormatOf(name string) Format {
	if strings.EqualFold(filepath.Ext(name), ".csv") {
		return CSV
	}
	return JSONLines
}

// A Writer writes plants in a format.
type Writer interface {
	// Write writes one plant, perhaps only to memory.
	Write(record storage.Record) error
	// Flush writes what is in memory.
	Flush() error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer, format Format) Writer {
	if format == CSV {
		return newCSVWriter(w)
	}
	return newJSONWriter(w)
}

// A Reader reads plants. Each is held against the rules of POST /plants.
type Reader interface {
	// Read returns the next plant and the number of its line, which is 1 for
	// the first. The error is io.EOF at the end, a *LineError if the line is no
	// plant, after which reading goes on, or another one, which is final.
	Read() (record storage.Record, line int, err error)
}

// NewReader returns a Reader from r of plants that have at most maxBytes as the
// body of POST /plants: that is their line of JSON, or what one of CSV is in JSON.
func NewReader(r io.Reader, format Format, maxBytes int64) Reader {
	if format == CSV {
		return newCSVReader(r, int(maxBytes))
	}
	return newJSONReader(r, int(maxBytes))
}

// tooLong returns the error for a line of more than maxBytes.
func tooLong(line, maxBytes int) *LineError {
	return &LineError{line, fmt.Sprintf("is longer than %d bytes, the limit of MAX_BODY_BYTES", maxBytes)}
}

// A LineError says what is wrong with one line.
type LineError struct {
	Line   int
	Reason string
}

// Error returns the line and the reason.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }
