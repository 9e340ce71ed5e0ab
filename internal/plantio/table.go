package plantio

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"plantstore/models"
	"plantstore/storage"
)

// tableRows is the number of rows that are aligned with each other and kept in memory.
const tableRows = 1000

// A table writes plants for people. It is a [Writer].
type table struct {
	out   *bufio.Writer
	width int
	rows  [][]string
}

// NewTable returns a Writer of a table for people to w. It cuts texts so that lines fit into a width,
// counted as terminals show them; 0: it cuts none.
func NewTable(w io.Writer, width int) Writer {
	_, names := columns()
	for i, name := range names {
		names[i] = strings.ToUpper(name)
	}
	return &table{out: bufio.NewWriter(w), width: width, rows: [][]string{names}}
}

func (t *table) Write(record storage.Record) error {
	row := []string{strconv.FormatInt(record.ID, 10)}
	for _, field := range models.TextFields() {
		text := ""
		if stored := field.Of(record.Plant); stored != nil {
			text = visible(*stored)
		}
		row = append(row, text)
	}
	if t.rows = append(t.rows, row); len(t.rows) < tableRows {
		return nil
	}
	return t.Flush()
}

// Flush writes the rows. A table without plants has no heading.
func (t *table) Flush() error {
	if len(t.rows) == 1 && t.rows[0][0] == "ID" {
		return nil
	}
	widths := t.widths()
	for _, row := range t.rows {
		var line strings.Builder
		for i, text := range row {
			text = cut(text, widths[i])
			line.WriteString(text + strings.Repeat(" ", widths[i]-uniseg.StringWidth(text)+2))
		}
		_, _ = t.out.WriteString(strings.TrimRight(line.String(), " ") + "\n") // Flush returns its error
	}
	t.rows = t.rows[:0]
	return t.out.Flush()
}

// widths returns the widths of the columns: the widest text of each, or less if the lines would be too
// long.
func (t *table) widths() []int {
	widths := make([]int, len(t.rows[0]))
	total := -2
	for i := range widths {
		for _, row := range t.rows {
			widths[i] = max(widths[i], uniseg.StringWidth(row[i]))
		}
		total += widths[i] + 2
	}
	for texts := widths[1:]; t.width > 0 && total > t.width && slices.Max(texts) > 1; total-- {
		texts[slices.Index(texts, slices.Max(texts))]--
	}
	return widths
}

// cut returns the beginning of a text that is too wide.
func cut(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	shown, used := "", 1
	for rest := uniseg.NewGraphemes(text); rest.Next(); shown += rest.Str() {
		if used += rest.Width(); used > width {
			break
		}
	}
	return shown + "…"
}

// visible returns text for a terminal. It quotes text that is empty, invisible or could
// move the cursor.
func visible(text string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if text == "" || strings.HasPrefix(text, `"`) || strings.TrimSpace(text) != text || strings.ContainsFunc(text, hidden) {
		return strconv.Quote(text)
	}
	return text
}
