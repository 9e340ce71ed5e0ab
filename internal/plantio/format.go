// Package plantio exports plants to JSON Lines or CSV and imports them, without loss.
package plantio

import (
	"bufio"
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
	// JSONLines has a NewPlant on each line: {"id":…,"name":…,"tag":…}.
	JSONLines Format = iota
	// CSV is RFC 4180 with the columns id, name and tag. A cell that begins
	// with a quotation mark is a JSON string, any other cell is literal text,
	// and an empty cell of the column tag means that there is no tag. It is not
	// escaped for spreadsheets, which may take a name such as =1+1 for a formula.
	CSV
)

// FormatOf returns the format for a file name: CSV for the extension .csv, otherwise
// JSON Lines.
func FormatOf(name string) Format {
	if strings.EqualFold(filepath.Ext(name), ".csv") {
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
type Reader interface {
	// Read returns the next plant and its line number, counted from 1. It returns
	// io.EOF at the end, a *LineError for an invalid line, after which Read may
	// be called again, or another error, which is final.
	Read() (record storage.Record, line int, err error)
}

// NewReader returns a Reader from r, with the limits of POST /plants: the body is the JSON line, or
// the CSV row converted to JSON.
func NewReader(r io.Reader, format Format, limits models.Limits) Reader {
	lines := lineDecoder{limits, models.NewDecoder(limits)}
	if format == CSV {
		return newCSVReader(r, lines)
	}
	return &jsonReader{lineDecoder: lines, in: bufio.NewReaderSize(r, bufferSize)}
}

// A lineDecoder decodes and validates a NewPlant by the rules of POST /plants.
type lineDecoder struct {
	limits  models.Limits
	decoder *models.Decoder
}

// decode returns the plant in text, or a *LineError for that line number.
func (d lineDecoder) decode(text []byte, line int) (storage.Record, error) {
	var body models.NewPlant
	err := d.decoder.Decode(text, &body)
	var failure *models.Error
	switch {
	case err == nil:
		return storage.Record{ID: body.ID.Value, Plant: body.Plant()}, nil
	case !errors.As(err, &failure):
		return storage.Record{}, err
	case failure.Code == models.CodeContentTooLarge:
		return storage.Record{}, badLine(line, "is longer than %d bytes, the limit of MAX_BODY_BYTES", d.limits.BodyBytes)
	}
	return storage.Record{}, badLine(line, "%s", strings.TrimPrefix(failure.Message, "body: "))
}

// A LineError reports an invalid line.
type LineError struct {
	Line   int
	Reason string // at most maxReason bytes
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

func badLine(line int, format string, args ...any) *LineError {
	return &LineError{line, shorten(fmt.Sprintf(format, args...))}
}

// maxReason bounds the messages about a file, in bytes: its names can be long.
const maxReason = 500

// shorten returns at most the first maxReason bytes of text.
func shorten(text string) string {
	const mark = "…"
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason-len(mark)], "") + mark
}
