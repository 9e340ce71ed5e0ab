package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestImportPrintsLittle checks that an import of a file of bad lines, of long names, or of a long
// header prints a bounded number of bounded lines, and counts the others.
func TestImportPrintsLittle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("n\u0001", 10_000)
	for name, text := range map[string]string{
		"names.jsonl":  strings.Repeat(fmt.Sprintf("{%q:1,%[1]q:2}\n", long), 90),
		"plants.jsonl": strings.Repeat("{}\n", 30_000),
		"plants.csv":   strings.Repeat(long, 100) + "\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for command, want := range map[string]struct {
		lines int
		last  string // of the bad lines
	}{
		"plants import names.jsonl plants.jsonl":        {103, "plants.jsonl: and 29990 more bad lines\n"},
		"plants import --json plants.jsonl names.jsonl": {104, `{"file":"plants.jsonl","more":29900}` + "\n" + `{"file":"names.jsonl","more":90}` + "\n"},
		"plants import plants.csv":                      {1, ""},
	} {
		printed := finish(t, plantstore.Command(t, dir, nil, strings.Fields(command)...)).output
		if got := strings.Count(printed, "\n"); got != want.lines || !strings.Contains(printed, want.last) {
			t.Errorf("%s: prints %d lines, want %d with %q:\n%.2000s", command, got, want.lines, want.last, printed)
		}
		for line := range strings.Lines(printed) {
			if len(line) > 600 {
				t.Errorf("%s: prints a line of %d bytes: %.700s", command, len(line), line)
			}
		}
	}
}
