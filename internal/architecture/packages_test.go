package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
)

// TestGeneratedCodes checks that docs/errors.md has a row for each error code.
func TestGeneratedCodes(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| `error` | Meaning |\n|---|---|\n")
	for _, row := range models.Codes() {
		fmt.Fprintf(&table, "| %d | %s |\n", row.Code, row.Meaning)
	}
	must.GeneratePart(t, filepath.Join(root, "docs/errors.md"), "codes", table.String())
}

// readFile returns the text of a file, by its path in the module.
func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(root, path)))(t))
}
