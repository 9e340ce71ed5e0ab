package architecture

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	checkPart(t, "docs/errors.md", "codes", table.String())
}

// checkPart compares the part of a document between two markers with its expected
// contents, or writes it.
func checkPart(t *testing.T, document, marker, want string) {
	t.Helper()
	begin, end := "<!-- "+marker+":begin -->\n", "<!-- "+marker+":end -->"
	before, rest, found := strings.Cut(readFile(t, document), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no lines %s and %s", document, begin, end)
	}
	if *update {
		must.Do(t, os.WriteFile(filepath.Join(root, document), []byte(before+begin+want+end+after), 0o644))
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is out of date; run make generate (-want +got):\n%s", document, diff)
	}
}

// readFile returns the text of a file, by its path in the module.
func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(root, path)))(t))
}
