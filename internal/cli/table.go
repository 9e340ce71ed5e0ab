package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"plantstore/storage"
)

// tableRows is how many rows of a table are lined up with each other, and so
// how many are held in memory.
const tableRows = 1000

// A table writes plants for people. It is a [transfer.Writer].
type table struct {
	out  *tabwriter.Writer
	rows int
}

func newTable(w io.Writer) *table {
	return &table{out: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
}

// Write implements [transfer.Writer].
func (t *table) Write(record storage.Record) error {
	if t.rows == 0 {
		if _, err := fmt.Fprintln(t.out, "ID\tNAME\tTAG"); err != nil {
			return err
		}
	}
	tag := ""
	if record.Plant.Tag != nil {
		tag = visible(*record.Plant.Tag)
	}
	if t.rows++; t.rows%tableRows == 0 {
		if err := t.Flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(t.out, "%d\t%s\t%s\n", record.ID, visible(record.Plant.Name), tag)
	return err
}

// Flush implements [transfer.Writer].
func (t *table) Flush() error { return t.out.Flush() }

// visible returns text as a terminal can show it. What is empty, would not be
// seen or could move the cursor is quoted.
func visible(text string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if text == "" || strings.HasPrefix(text, `"`) || strings.TrimSpace(text) != text || strings.ContainsFunc(text, hidden) {
		return strconv.Quote(text)
	}
	return text
}
