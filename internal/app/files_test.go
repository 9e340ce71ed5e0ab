package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/app"
)

// TestDatabaseFiles checks that the database and each file next to it are in the table of
// docs/operations.md and refused as destination.
func TestDatabaseFiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	c := load(t, "data", nil)
	for _, file := range app.DatabaseFiles(c.Storage.Path) {
		if row := "\n| `" + filepath.Base(file.Path) + "` |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/operations.md has no row %q", strings.TrimSpace(row))
		}
		if got := app.UsedAs(c, file.Path); got != file.What {
			t.Errorf("%s is %q, want %q", file.Path, got, file.What)
		}
	}
	for _, other := range []string{"data/other.db", "data/plants.jsonl", ""} {
		if got := app.UsedAs(c, other); got != "" {
			t.Errorf("%s is %q, want no use", other, got)
		}
	}
}
