// Package plantio exports plants to JSON Lines or CSV, and imports them, without losing a byte.
package plantio

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"plantstore/models"
	"plantstore/storage"
)

// A Format is the format of a file of plants.
type Format int

const (
	// JSONLines has a NewPlant on each line: {"id":…,"name":…,"tag":…}. A [Reader] also accepts
	// a JSON array of them.
	JSONLines Format = iota
	// CSV is RFC 4180 with the columns id and those of [models.TextFields]. A cell that
	// begins with a quotation mark is a JSON string, any other cell is literal text,
	// and an empty cell of an optional field means that there is none. It is not
	// escaped for spreadsheets, which may take a name such as =1+1 for a formula.
	CSV
)

// FormatOf returns the format for a file name: CSV for the extension .csv, also before .gz,
// otherwise JSON Lines.
func FormatOf(name string) Format {
	if filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz")) == ".csv" {
		return CSV
	}
	return JSONLines
}

// A Writer writes plants in a format.
type Writer interface {
	// Write writes a plant to the buffer.
	Write(record storage.Record) error
	// Flush writes the buffer.
	Flush() error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer, format Format) Writer {
	if format == CSV {
		return newCSVWriter(w)
	}
	return &jsonWriter{out: bufio.NewWriterSize(w, bufferSize)}
}

// A Reader reads plants and validates them by the rules of POST /plants.
type Reader struct {
	in     *bufio.Reader
	format Format
	lines  interface {
		next() (text []byte, at Position, err error)
	} // NewPlants in JSON; nil: not open
	maxBytes int64
	decoder  *models.Decoder
	body     models.NewPlant // the last one
}

// NewReader returns a Reader from r. A plant has at most maxBytes, as the body of POST /plants: the
// JSON line, the element of the JSON array, or the CSV row converted to JSON.
func NewReader(r io.Reader, format Format, maxBytes int64) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, bufferSize), format: format, maxBytes: maxBytes, decoder: models.NewDecoder(maxBytes)}
}

// Read returns the next plant and its place. It returns io.EOF at the end, a *[LineError] for
// an invalid line or element, after which Read may be called again, or another error, which is
// final.
func (r *Reader) Read() (storage.Record, Position, error) {
	if err := r.Open(); err != nil {
		return storage.Record{}, Position{}, err
	}
	text, at, err := r.lines.next()
	if err != nil {
		return storage.Record{}, at, err
	}
	err = r.decoder.Decode(text, &r.body)
	if failure, ok := errors.AsType[*models.Error](err); ok {
		reason := strings.TrimPrefix(failure.Message, "body: ")
		if failure.Code == models.CodeContentTooLarge {
			reason = fmt.Sprintf("is longer than %d bytes, the limit of MAX_BODY_BYTES", r.maxBytes)
		}
		return storage.Record{}, at, badLine(at, "%s", reason)
	}
	return storage.Record{ID: r.body.ID.Value, Plant: r.body.Plant().Clone()}, at, err
}

// A Position is the place of a plant in a file, counted from 1.
type Position struct {
	Line    int // its first line
	Element int // of the JSON array; 0 in other formats
}

func (p Position) compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Element, q.Element))
}

// A LineError reports an invalid line, or an invalid element of an array.
type LineError struct {
	Position
	Reason string // with the number of the element; at most maxReason bytes
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

func badLine(at Position, format string, args ...any) *LineError {
	reason := fmt.Sprintf(format, args...)
	if at.Element > 0 {
		reason = fmt.Sprintf("element %d: %s", at.Element, reason)
	}
	return &LineError{at, shorten(reason)}
}

// maxReason bounds the messages about a file, in bytes: its names can be long.
const maxReason = 500

func shorten(text string) string {
	const mark = "…"
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason-len(mark)], "") + mark
}
