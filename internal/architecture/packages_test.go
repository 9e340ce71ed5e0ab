package architecture

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
)

var update = flag.Bool("update", false, "rewrite the table of error codes in docs/errors.md")

// TestGeneratedCodes checks that docs/errors.md has a row for each error code.
func TestGeneratedCodes(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| `error` | Meaning |\n|---|---|\n")
	for _, row := range models.Codes() {
		fmt.Fprintf(&table, "| %d | %s |\n", row.Code, row.Meaning)
	}
	const document, begin, end = "docs/errors.md", "<!-- codes:begin -->\n", "<!-- codes:end -->"
	before, rest, found := strings.Cut(readFile(t, document), begin)
	got, after, closed := strings.Cut(rest, end)
	switch {
	case !found || !closed:
		t.Fatalf("%s has no lines %s and %s", document, begin, end)
	case *update:
		must.Do(t, os.WriteFile(filepath.Join(root, document), []byte(before+begin+table.String()+end+after), 0o644))
	case got != table.String():
		t.Errorf("%s is out of date; run make generate: want\n%s", document, &table)
	}
}

// readFile returns the text of a file, by its path in the module.
func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(root, path)))(t))
}
