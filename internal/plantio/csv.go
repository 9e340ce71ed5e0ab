package plantio

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
	"plantstore/storage"
)

// rowFactor is the maximum length of a row as a multiple of its plant in JSON. Doubled
// quotation marks and ignored columns make it longer.
const rowFactor = 4

// A column is a column of a CSV file. The zero value is one that is ignored.
type column struct {
	name     string
	optional bool
	text     bool // an empty cell is an empty text, rather than an absent field
}

// columns returns the columns of a CSV file and their names, in the order in which they are written.
func columns() (all []column, names []string) {
	all, names = []column{{name: "id"}}, []string{"id"}
	for _, field := range models.TextFields() {
		all, names = append(all, column{field.Name, !field.Required, field.Required}), append(names, field.Name)
	}
	return all, names
}

// listed returns the names of the columns as in "a, b and c".
func listed() string {
	_, names := columns()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

type csvWriter struct {
	out *csv.Writer
	row []string
}

func newCSVWriter(w io.Writer) *csvWriter {
	out := csv.NewWriter(w)
	_, names := columns()
	_ = out.Write(names) // to the buffer
	return &csvWriter{out: out}
}

func (w *csvWriter) Write(record storage.Record) error {
	w.row = append(w.row[:0], strconv.FormatInt(record.ID, 10))
	for _, field := range models.TextFields() {
		written := ""
		if text := field.Of(record.Plant); text != nil {
			written = cell(*text)
			if written == "" && !field.Required { // an empty cell means that there is none
				written = `""`
			}
		}
		w.row = append(w.row, written)
	}
	return w.out.Write(w.row)
}

func (w *csvWriter) Flush() error {
	w.out.Flush()
	return w.out.Error()
}

// cell returns the cell for text: a JSON string if text would not survive a round trip
// or contains control characters, otherwise text itself.
func cell(text string) string {
	if !strings.HasPrefix(text, `"`) && !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	quoted, _ := jsontext.AppendQuote(nil, text) // stored strings are UTF-8
	return string(quoted)
}

type csvLines struct {
	in     *csv.Reader
	source *io.LimitedReader // for a row
	most   int64             // bytes of a row
	header []column
	last   Position // of the last row
	text   []byte   // the row as JSON
}

// newCSVLines reads the header. It returns a *[FormatError] if the first line, or the beginning of a
// longer one, is no header.
func newCSVLines(r io.Reader, first []byte, maxBytes int64) (*csvLines, error) {
	source := &io.LimitedReader{R: r}
	in := csv.NewReader(source)
	in.FieldsPerRecord = -1 // missing cells are absent fields: some programs omit empty ones at the end of a row
	in.ReuseRecord = true
	l := &csvLines{in: in, source: source, most: rowFactor*maxBytes + bufferSize}
	return l, l.readHeader(first)
}

// next skips rows without any text, which spreadsheets write.
func (l *csvLines) next() ([]byte, Position, error) {
	row, at, err := l.row()
	for err == nil && strings.Join(row, "") == "" {
		row, at, err = l.row()
	}
	if err == nil {
		err = l.toJSON(row, at)
	}
	return l.text, at, err
}

func (l *csvLines) row() (row []string, at Position, err error) {
	l.source.N = l.most
	row, err = l.in.Read()
	var syntax *csv.ParseError
	switch {
	case l.source.N == 0: // package csv would read the rest of the file into memory
		return nil, at, fmt.Errorf("the row after line %d is longer than %d bytes; is a quotation mark left open?", l.last.Line, l.most)
	case errors.As(err, &syntax):
		at.Line = syntax.StartLine
		reason := "is not CSV: a quotation mark is left open, or not doubled"
		if syntax.Line > syntax.StartLine {
			reason += fmt.Sprintf("; the lines %d to %d are left out", syntax.StartLine, syntax.Line)
		}
		return nil, at, badLine(at, "%s", reason)
	case err != nil:
		return nil, at, err
	}
	l.last.Line, _ = l.in.FieldPos(0)
	return row, l.last, nil
}

func (l *csvLines) readHeader(first []byte) error {
	row, _, err := l.row()
	switch {
	case errors.Is(err, io.EOF):
		return badFormat("the file is empty: its first line must name the columns %s", listed())
	case errors.As(err, new(*LineError)), l.source.N == 0:
		return badHeader(first)
	case err != nil:
		return err
	}
	known, _ := columns()
	for _, name := range row {
		found := column{}
		if i := slices.IndexFunc(known, func(c column) bool { return strings.EqualFold(c.name, strings.TrimSpace(name)) }); i >= 0 {
			found = known[i]
		}
		if found.name != "" && slices.Contains(l.header, found) {
			return badHeader(first)
		}
		l.header = append(l.header, found)
	}
	if slices.ContainsFunc(known, func(c column) bool { return !c.optional && !slices.Contains(l.header, c) }) {
		return badHeader(first)
	}
	return nil
}

func badHeader(line []byte) error {
	delimiter := ""
	if i := bytes.IndexAny(line, ",;\t"); i >= 0 {
		delimiter = map[byte]string{';': "semicolons", '\t': "tabs"}[line[i]]
	}
	switch {
	case bytes.HasPrefix(line, []byte("sep=")):
		return badFormat("begins with %.40q, which only a spreadsheet understands: delete that line, and save the file with commas", line)
	case delimiter != "":
		return badFormat("has %s between its columns: save it as CSV with commas", delimiter)
	}
	return badFormat("line 1: must name the columns %s, each once, but is %q", listed(), line)
}

// toJSON sets l.text to the row as a NewPlant in JSON. It ignores other columns, as
// [models.Decoder] ignores unknown fields.
func (l *csvLines) toJSON(row []string, at Position) (err error) {
	if len(row) > len(l.header) {
		return badLine(at, "has %d cells, but there are %d columns", len(row), len(l.header))
	}
	l.text = append(l.text[:0], '{')
	for i, text := range row {
		column := l.header[i]
		if column.name == "" || text == "" && !column.text {
			continue
		}
		if len(l.text) > 1 {
			l.text = append(l.text, ',')
		}
		l.text = append(strconv.AppendQuote(l.text, column.name), ':')
		if l.text, err = appendCell(l.text, column.name, text); err != nil {
			return badLine(at, "%s: %v", column.name, err)
		}
	}
	l.text = append(l.text, '}')
	return nil
}

func appendCell(b []byte, column, text string) ([]byte, error) {
	value := jsontext.Value(text)
	literal := strings.HasPrefix(text, `"`)
	isID := column == "id"
	switch problem := numberProblem(text); {
	case isID && problem != "":
		return nil, errors.New(problem)
	case isID && value.Kind() == jsontext.KindNumber && value.IsValid(), literal && value.IsValid():
		return append(b, text...), nil
	case literal:
		return nil, errors.New("begins with a quotation mark, but is not a JSON string")
	}
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil {
		return nil, errors.New("is not UTF-8")
	}
	return quoted, nil
}

// numberProblem returns why a number is not an integer in digits, as spreadsheets and people write them,
// or "" for anything else. It is stricter than C2.13, since a spreadsheet loses digits.
func numberProblem(text string) string {
	digits := strings.TrimLeft(text, "+-")
	switch {
	case strings.Trim(text, "0123456789+-.,'_ \u00a0\u202feE") != "" || !strings.ContainsAny(text, "0123456789"):
		return ""
	case strings.TrimSpace(text) != text:
		return "has a blank before or after it; write its digits alone"
	case strings.ContainsAny(text, "eE"):
		return "looks rounded by a spreadsheet; write all its digits"
	case strings.Contains(text, "."):
		return "has a fraction or a separator; write its digits alone"
	case strings.Trim(digits, "0123456789") != "":
		return "has a separator; write its digits alone"
	case strings.HasPrefix(text, "+"):
		return "has a plus sign; write its digits alone"
	case strings.HasPrefix(digits, "0") && digits != "0":
		return "has a leading zero; write it without"
	}
	return ""
}
