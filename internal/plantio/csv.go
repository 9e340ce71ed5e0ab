package plantio

import (
	"bufio"
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

// columns returns the columns of a CSV file, in the order in which they are written.
func columns() []string { return []string{"id", "name", "tag"} }

// A csvWriter writes CSV with a header row.
type csvWriter struct{ out *csv.Writer }

func newCSVWriter(w io.Writer) csvWriter {
	out := csv.NewWriter(w)
	_ = out.Write(columns()) // to the buffer
	return csvWriter{out}
}

func (w csvWriter) Write(record storage.Record) error {
	tag := ""
	if t := record.Plant.Tag; t != nil {
		if tag = cell(*t); tag == "" {
			tag = `""`
		}
	}
	return w.out.Write([]string{strconv.FormatInt(record.ID, 10), cell(record.Plant.Name), tag})
}

func (w csvWriter) Flush() error {
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

// csvLines reads CSV with a header row.
type csvLines struct {
	in     *csv.Reader
	source *io.LimitedReader // for a row
	most   int64             // bytes of a row
	header []string
	last   int    // line number of the last row
	text   []byte // the row as JSON
}

func newCSVLines(r io.Reader, limits models.Limits) *csvLines {
	source := &io.LimitedReader{R: r}
	in := csv.NewReader(bufio.NewReaderSize(source, bufferSize))
	in.FieldsPerRecord = -1 // missing cells are absent fields: some programs omit empty ones at the end of a row
	in.ReuseRecord = true
	return &csvLines{in: in, source: source, most: rowFactor*limits.BodyBytes + bufferSize}
}

func (l *csvLines) next() ([]byte, int, error) {
	if l.header == nil {
		if err := l.readHeader(); err != nil {
			return nil, 1, err
		}
	}
	row, line, err := l.row()
	if err == nil {
		err = l.toJSON(row, line)
	}
	return l.text, line, err
}

// row returns the next row and its first line number.
func (l *csvLines) row() (row []string, line int, err error) {
	l.source.N = l.most
	row, err = l.in.Read()
	var syntax *csv.ParseError
	switch {
	case l.source.N == 0: // package csv would read the rest of the file into memory
		return nil, 0, fmt.Errorf("the row after line %d is longer than %d bytes; is a quotation mark left open?", l.last, l.most)
	case errors.As(err, &syntax):
		return nil, syntax.StartLine, badLine(syntax.StartLine, "is not CSV: %v in column %d", syntax.Err, syntax.Column)
	case err != nil:
		return nil, 0, err
	}
	l.last, _ = l.in.FieldPos(0)
	return row, l.last, nil
}

func (l *csvLines) readHeader() error {
	row, _, err := l.row()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty: its first line must name the columns id, name and tag")
	}
	if err != nil {
		return err
	}
	l.header = slices.Clone(row)
	l.header[0] = strings.TrimPrefix(l.header[0], "\ufeff") // written by spreadsheets
	for _, column := range columns() {
		first := slices.Index(l.header, column)
		if slices.Contains(l.header[first+1:], column) || first < 0 && column != "tag" {
			return errors.New(shorten(fmt.Sprintf("line 1: must name the columns id, name and tag, each once, but names %q", l.header)))
		}
	}
	return nil
}

// toJSON sets l.text to the row as a NewPlant in JSON. It ignores other columns, as
// [models.Decoder] ignores unknown fields.
func (l *csvLines) toJSON(row []string, line int) (err error) {
	if len(row) > len(l.header) {
		return badLine(line, "has %d cells, but there are %d columns", len(row), len(l.header))
	}
	l.text = append(l.text[:0], '{')
	for i, text := range row {
		column := l.header[i]
		if !slices.Contains(columns(), column) || text == "" && column != "name" {
			continue
		}
		if len(l.text) > 1 {
			l.text = append(l.text, ',')
		}
		l.text = append(strconv.AppendQuote(l.text, column), ':')
		if l.text, err = appendCell(l.text, column, text); err != nil {
			return badLine(line, "%s: %v", column, err)
		}
	}
	l.text = append(l.text, '}')
	return nil
}

// appendCell appends the value of a cell as JSON.
func appendCell(b []byte, column, text string) ([]byte, error) {
	value := jsontext.Value(text)
	literal := strings.HasPrefix(text, `"`)
	number := column == "id" && value.Kind() == jsontext.KindNumber && value.IsValid()
	switch {
	case number && strings.ContainsAny(text, ".eE"): // stricter than C2.13: digits are lost
		return nil, errors.New("looks rounded by a spreadsheet; write all its digits")
	case number, literal && value.IsValid():
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
