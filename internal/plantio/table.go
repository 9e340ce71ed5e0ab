package plantio

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"plantstore/models"
	"plantstore/storage"
)

// tableRows is the number of rows that are aligned with each other and kept in memory.
const tableRows = 1000

// A table writes plants for people. It is a [Writer].
type table struct {
	out  *tabwriter.Writer
	rows int
}

// NewTable returns a Writer of a table for people to w.
func NewTable(w io.Writer) Writer {
	return &table{out: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
}

func (t *table) Write(record storage.Record) error {
	if t.rows == 0 {
		fmt.Fprintln(t.out, strings.ToUpper(strings.Join(columns(), "\t"))) // to the buffer
	}
	if t.rows++; t.rows%tableRows == 0 {
		if err := t.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprint(t.out, record.ID)
	for _, field := range models.TextFields() {
		text := ""
		if stored := field.Of(record.Plant); stored != nil {
			text = visible(*stored)
		}
		fmt.Fprint(t.out, "\t", text)
	}
	_, err := fmt.Fprintln(t.out)
	return err
}

func (t *table) Flush() error { return t.out.Flush() }

// visible returns text for a terminal. It quotes text that is empty, invisible or could
// move the cursor.
func visible(text string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if text == "" || strings.HasPrefix(text, `"`) || strings.TrimSpace(text) != text || strings.ContainsFunc(text, hidden) {
		return strconv.Quote(text)
	}
	return text
}
