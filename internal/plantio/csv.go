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
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"plantstore/storage"
)

// The columns of a CSV file.
const (
	columnID   = "id"
	columnName = "name"
	columnTag  = "tag"
)

// rowFactor is the maximum length of a row as a multiple of its plant in JSON. Doubled
// quotation marks and ignored columns make it longer.
const rowFactor = 4

// A csvWriter writes CSV with a header row.
type csvWriter struct {
	out  *csv.Writer
	cell func(text string) string // escapes a name or tag
}

func newCSVWriter(w io.Writer, cell func(string) string) *csvWriter {
	out := csv.NewWriter(w)
	_ = out.Write([]string{columnID, columnName, columnTag}) // to the buffer
	return &csvWriter{out, cell}
}

func (w *csvWriter) Write(record storage.Record) error {
	name, tag := w.cell(record.Plant.Name), ""
	switch t := record.Plant.Tag; {
	case t == nil:
	case *t == "":
		tag = `""`
	default:
		tag = w.cell(*t)
	}
	return w.out.Write([]string{strconv.FormatInt(record.ID, 10), name, tag})
}

func (w *csvWriter) Flush() error {
	w.out.Flush()
	return w.out.Error()
}

// cell returns the cell for text: a JSON string if text would not survive a round trip
// or contains control characters, otherwise text itself.
func cell(text string) string {
	if strings.HasPrefix(text, `"`) || strings.ContainsFunc(text, unicode.IsControl) {
		return jsonCell(text)
	}
	return text
}

// safeCell is cell for spreadsheets. It also returns a JSON string for text that a
// spreadsheet may interpret as a formula, and escapes semicolons, which some of them use
// as separators.
func safeCell(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	if strings.ContainsRune("=+-@＝＋－＠", first) || strings.Contains(text, ";") { // the latter four are full-width forms
		return strings.ReplaceAll(jsonCell(text), ";", `\u003b`)
	}
	return cell(text)
}

func jsonCell(text string) string {
	quoted, _ := jsontext.AppendQuote(nil, text) // stored strings are UTF-8
	return string(quoted)
}

type csvReader struct {
	lineDecoder

	in      *csv.Reader
	source  *io.LimitedReader // for a row
	columns []string
	last    int    // line number of the last row
	text    []byte // the row as JSON
}

func newCSVReader(r io.Reader, lines lineDecoder) *csvReader {
	source := &io.LimitedReader{R: r}
	in := csv.NewReader(bufio.NewReaderSize(source, bufferSize))
	in.FieldsPerRecord = -1 // missing cells are absent fields: some programs omit empty ones at the end of a row
	in.ReuseRecord = true
	return &csvReader{lineDecoder: lines, in: in, source: source}
}

func (r *csvReader) Read() (storage.Record, int, error) {
	if r.columns == nil {
		if err := r.readColumns(); err != nil {
			return storage.Record{}, 1, err
		}
	}
	row, line, err := r.row()
	if err != nil {
		return storage.Record{}, line, err
	}
	if err := r.toJSON(row); err != nil {
		return storage.Record{}, line, &LineError{line, err.Error()}
	}
	record, err := r.decode(r.text, line)
	return record, line, err
}

// row returns the next row and its first line number.
func (r *csvReader) row() (row []string, line int, err error) {
	most := rowFactor*r.limits.BodyBytes + bufferSize
	r.source.N = most
	row, err = r.in.Read()
	var syntax *csv.ParseError
	switch {
	case r.source.N == 0: // package csv would read the rest of the file into memory
		return nil, 0, fmt.Errorf("the row after line %d is longer than %d bytes; is a quotation mark left open?", r.last, most)
	case errors.As(err, &syntax):
		return nil, syntax.StartLine, &LineError{syntax.StartLine, fmt.Sprintf("is not CSV: %v in column %d", syntax.Err, syntax.Column)}
	case err != nil:
		return nil, 0, err
	}
	r.last, _ = r.in.FieldPos(0)
	return row, r.last, nil
}

func (r *csvReader) readColumns() error {
	row, _, err := r.row()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the file is empty: its first line must name the columns id, name and tag")
	}
	if err != nil {
		return err
	}
	r.columns = slices.Clone(row)
	r.columns[0] = strings.TrimPrefix(r.columns[0], "\ufeff") // written by spreadsheets
	for _, column := range []string{columnID, columnName, columnTag} {
		first := slices.Index(r.columns, column)
		if slices.Contains(r.columns[first+1:], column) || first < 0 && column != columnTag {
			return fmt.Errorf("line 1: must name the columns id, name and tag, each once, but names %q", r.columns)
		}
	}
	return nil
}

// toJSON sets r.text to the row as a NewPlant in JSON. It ignores other columns, as
// [models.Decoder] ignores unknown fields.
func (r *csvReader) toJSON(row []string) (err error) {
	r.text = append(r.text[:0], '{')
	for i, text := range row {
		if i >= len(r.columns) {
			return fmt.Errorf("has %d cells, but there are %d columns", len(row), len(r.columns))
		}
		column := r.columns[i]
		absent := text == "" && column != columnName
		if absent || column != columnID && column != columnName && column != columnTag {
			continue
		}
		if len(r.text) > 1 {
			r.text = append(r.text, ',')
		}
		r.text = append(strconv.AppendQuote(r.text, column), ':')
		if r.text, err = appendCell(r.text, column, text); err != nil {
			return fmt.Errorf("%s: %w", column, err)
		}
	}
	r.text = append(r.text, '}')
	return nil
}

// appendCell appends the value of a cell as JSON.
func appendCell(b []byte, column, text string) ([]byte, error) {
	value := jsontext.Value(text)
	if column == columnID && value.Kind() == jsontext.KindNumber && value.IsValid() {
		return append(b, text...), nil
	}
	if strings.HasPrefix(text, `"`) {
		if !value.IsValid() {
			return nil, errors.New("begins with a quotation mark, but is not a JSON string")
		}
		return append(b, text...), nil
	}
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil {
		return nil, errors.New("is not UTF-8")
	}
	return quoted, nil
}
