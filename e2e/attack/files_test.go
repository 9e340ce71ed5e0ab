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

// TestPasswordInFlag checks that each command refuses the URL of a database of the network, does not repeat its
// password, and creates no file of that name.
func TestPasswordInFlag(t *testing.T) {
	t.Parallel()
	check := func(dir string, env []string, words ...string) {
		code, out := plantstore.Finish(t, plantstore.Command(t, dir, append(env, "ADDR=127.0.0.1:0"), words...))
		if code != 2 || strings.Contains(out, "SECRET") || env == nil && !strings.Contains(out, "plantstore-cluster") {
			t.Errorf("%q with %q: exit code %d\n%s", words, env, code, out)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%q with %q created %v, %v", words, env, entries, err)
		}
	}
	for _, command := range []string{"serve", "config", "check", "token", "plants count", "plants export", "backup x.db", "restore x.db"} {
		check(t.TempDir(), nil, append(strings.Fields(command), "--storage-url", "postgres://u:SECRET@127.0.0.1:1/db")...)
	}
	for _, command := range []string{"serve", "plants count"} { // TestErrorsHidePasswords has more
		check(t.TempDir(), []string{"STORAGE_URL=postgres://u:SECRET%zz@h/db"}, strings.Fields(command)...)
	}
}

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
	plantstore.Run(t, dir, "plants", "import", "--quiet", os.DevNull) // creates the database
	for command, want := range map[string]struct {
		lines int
		last  string // of the bad lines
	}{
		"plants import names.jsonl plants.jsonl": {103, "plants.jsonl: and 29990 more bad lines\n"},
		"plants import --json plants.jsonl names.jsonl": {
			104, `{"file":"plants.jsonl","more":29900}` + "\n" + `{"file":"names.jsonl","more":90}` + "\n",
		},
		"plants import plants.csv": {1, ""},
	} {
		_, printed := plantstore.Finish(t, plantstore.Command(t, dir, nil, strings.Fields(command)...))
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
