// Package plantio exports plants to JSON Lines or CSV, and imports them, without losing a byte.
package plantio

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"plantstore/internal/files"
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

// Open reads the beginning of the file. It returns a *[FormatError] for a file that is not in its
// format. Read calls it.
func (r *Reader) Open() error {
	if r.lines != nil {
		return nil
	}
	line, head, err := begin(r.in, r.format)
	switch {
	case err != nil:
		return err
	case r.format == CSV:
		r.lines, err = newCSVLines(r.in, line, r.maxBytes)
		return err
	case bytes.HasPrefix(line, []byte("[")):
		before, _ := r.in.ReadString('[') // in the buffer
		r.lines = &jsonArray{in: r.in, maxBytes: r.maxBytes, line: 1 + strings.Count(before, "\n")}
	case inArray.Match(head) && !r.beginsWithPlant():
		return badFormat("has its plants in the array %s of an object: run jq -c '.%[1]s[]' FILE >plants.jsonl, and use that file", inArray.FindSubmatch(head)[1])
	case bytes.Equal(bytes.TrimSpace(line), []byte("{")):
		return badFormat("has a plant that spans lines: write each plant on one line, such as with jq -c . FILE, or all plants into an array")
	case len(line) > 0 && line[0] != '{':
		return badFormat("begins with %.40q, not with { or [, so it is not JSON: if it is CSV, use --format csv, or a name that ends in .csv", line)
	default:
		r.lines = &jsonLines{in: r.in, maxBytes: r.maxBytes}
	}
	return nil
}

// beginSize is the number of bytes by which a file is recognized.
const beginSize = 4 << 10

// begin skips a byte order mark and returns the beginning of the file after spaces, which is valid until
// the next read, and its first line. It returns a *[FormatError] for a file in another encoding, which
// names the format.
func begin(in *bufio.Reader, format Format) (line, head []byte, err error) {
	head, err = in.Peek(beginSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	const byteOrderMark = "\ufeff"
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		head = head[len(byteOrderMark):]
		_, _ = in.Discard(len(byteOrderMark)) // in the buffer
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	line = head
	if end := bytes.IndexAny(head, "\r\n"); end >= 0 {
		line = head[:end]
	}
	remedy := " >plants.jsonl, and use that file"
	if format == CSV {
		remedy = " >plants.csv, and use that file"
	}
	utf16, rest := files.UTF16(head), head[len(line):]
	switch {
	case bytes.HasPrefix(line, []byte("\x1f\x8b")):
		return nil, nil, badFormat("is compressed with gzip: run zcat FILE%s", remedy)
	case bytes.HasPrefix(line, []byte("PK\x03\x04")):
		return nil, nil, badFormat("is a zip archive or a spreadsheet: unpack it, or save the spreadsheet as UTF-8 CSV with commas")
	case utf16 != "":
		return nil, nil, badFormat("is in %s: save it as UTF-8, or run iconv -f %[1]s -t UTF-8 FILE%s", utf16, remedy)
	case bytes.IndexByte(line, 0) >= 0:
		return nil, nil, badFormat("is a binary file: save a spreadsheet as UTF-8 CSV with commas, and a database with plantstore plants export")
	case len(rest) > 1 && rest[0] == '\r' && rest[1] != '\n' && line[0] != '[': // an array may have any
		return nil, nil, badFormat(`ends its lines with CR alone: run tr '\r' '\n' <FILE%s`, remedy)
	}
	return bytes.Clone(line), head, nil
}

// inArray matches an object whose first property is an array of objects, as of json-server.
var inArray = regexp.MustCompile(`^\{\s*"(\w+)"\s*:\s*\[\s*\{`)

// beginsWithPlant reports whether the first line of a file of JSON lines is a plant. One that does not fit into
// the buffer may be.
func (r *Reader) beginsWithPlant() bool {
	head, err := r.in.Peek(bufferSize)
	line, _, ended := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	return err == nil && !ended || r.decoder.Decode(line, &r.body) == nil
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

// A FormatError reports a file that is not in its format, with a remedy. It is returned before
// any plant.
type FormatError struct{ reason string }

func (e *FormatError) Error() string { return e.reason }

func badFormat(format string, args ...any) *FormatError {
	return &FormatError{shorten(fmt.Sprintf(format, args...))}
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
