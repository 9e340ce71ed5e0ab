package attack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// An attempt is a command that root runs, where theirs is a directory of the attacker, with the
// database of root.
type attempt struct {
	env, args func(theirs, database string) []string
}

// attempts returns the commands that write to a directory of the attacker.
func attempts() map[string]attempt {
	none := func(string, string) []string { return nil }
	on := func(args ...string) func(theirs, database string) []string {
		return func(theirs, database string) []string {
			var all []string
			for _, arg := range args {
				all = append(all, strings.NewReplacer("THEIRS", theirs, "DATABASE", database).Replace(arg))
			}
			return all
		}
	}
	serve := on("serve", "--storage-url", "DATABASE")
	return map[string]attempt{
		"token":                {none, on("token", "--storage-url", "THEIRS/plants.db")},
		"serve":                {none, on("serve", "--storage-url", "THEIRS/plants.db")},
		"import":               {none, on("plants", "import", "--storage-url", "THEIRS/plants.db", "../plants.jsonl")},
		"compact":              {none, on("compact", "--storage-url", "THEIRS/copy.db")},
		"restore":              {none, on("restore", "--storage-url", "THEIRS/plants.db", "DATABASE")},
		"restore over another": {none, on("restore", "--storage-url", "THEIRS/copy.db", "DATABASE")},
		"export":               {none, on("plants", "export", "--storage-url", "DATABASE", "THEIRS/plants.csv")},
		"export below":         {none, on("plants", "export", "--storage-url", "DATABASE", "THEIRS/ours/plants.csv")},
		"backup":               {none, on("backup", "--storage-url", "DATABASE", "THEIRS/backup.db")},
		"socket":               {on("ADDR=unix:THEIRS/http.sock"), serve},
	}
}

// TestRootInDirectoryOfAttacker checks that root does not write to a directory of another user:
// the attacker tries to replace the temporary file by a link to a file of root. Before the
// check, root's files were overwritten or became the attacker's in up to half of the runs.
func TestRootInDirectoryOfAttacker(t *testing.T) {
	t.Parallel()
	for name, tt := range attempts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSite(t)
			database, theirs := m.database(t), m.mkdir(t, "theirs", 0o755, attacker)
			m.mkdir(t, "theirs/ours", 0o755, 0)
			text, err := os.ReadFile(database)
			must(t, errors.Join(err, os.WriteFile(theirs+"/copy.db", text, 0o600)))
			before := contents(t, theirs)
			m.startSwapping(t, theirs)
			for range plantstore.Torture(3, 30) {
				out, code := run(m.command(t, tt.env(theirs, database), absolute(m, tt.args(theirs, database))...))
				want := fmt.Sprintf("root must not write to %s, which belongs to the user %d", theirs, attacker)
				if code != 1 || !strings.Contains(out, want) || !strings.Contains(out, "sudo -u '#65533' plantstore") {
					t.Errorf("exit code %d, want 1 and %q:\n%s", code, want, out)
				}
				m.checkVictim(t)
			}
			if after := contents(t, theirs); after != before {
				t.Errorf("the directory contains %s, want %s", after, before)
			}
		})
	}
}

// absolute returns args with ../ replaced by the directory of the site.
func absolute(m site, args []string) []string {
	for i, arg := range args {
		if rest, found := strings.CutPrefix(arg, "../"); found {
			args[i] = filepath.Join(m.dir, rest)
		}
	}
	return args
}

// TestOwnerInDirectory checks that the advice of the refusal works: the owner of the directory
// runs the command.
func TestOwnerInDirectory(t *testing.T) {
	t.Parallel()
	m := newSite(t)
	theirs := m.mkdir(t, "theirs", 0o700, attacker)
	out, code := run(m.commandAs(t, attacker, "token", "--storage-url", theirs+"/plants.db"))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	if got := contents(t, theirs); got != "jwt-secret" {
		t.Errorf("the directory contains %s", got)
	}
}
