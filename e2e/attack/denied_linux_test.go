package attack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestDenied checks that a permission error names the object, its owner, who the process is, and a
// remedy.
func TestDenied(t *testing.T) {
	t.Parallel()
	const owner, self = 65532, 65533
	for line, want := range map[string]string{
		"serve --storage-url data/plants.db":                 "data belongs to uid 0, this process is uid 65533: chown 65533 data, or name another place with --storage-url",
		"plants list --storage-url data/plants.db":           "data belongs to uid 0, this process is uid 65533: chown 65533 data, or name another place with --storage-url",
		"health --storage-url data/plants.db":                "data belongs to uid 0, this process is uid 65533: chown 65533 data",
		"serve --storage-url open/plants.db":                 "open/plants.db belongs to uid 0, this process is uid 65533: chown 65533 open/plants.db, or name another place with --storage-url",
		"serve --storage-url open/new.db":                    "open belongs to uid 0, this process is uid 65533: chown 65533 open, or name another place with --storage-url",
		"plants list --storage-url theirs/plants.db":         "theirs belongs to uid 65532, this process is uid 65533: run this as that user, or chown 65533 theirs, or name another place with --storage-url",
		"serve --storage-url mine/plants.db":                 "mine/plants.db has the mode 0000: chmod u+rwX mine/plants.db, or name another place with --storage-url",
		"token --storage-url mine/plants.db":                 "mine/jwt-secret belongs to uid 0, this process is uid 65533: chown 65533 mine/jwt-secret",
		"plants import --storage-url mine/new.db victim":     "victim belongs to uid 0, this process is uid 65533: chown 65533 victim",
		"restore --storage-url open/new.db plants.db":        "open belongs to uid 0, this process is uid 65533: chown 65533 open, or name another place with --storage-url",
		"plants export --storage-url plants.db open/out.csv": "open belongs to uid 0, this process is uid 65533: name another place",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			m := newSite(t)
			text := must.Get(os.ReadFile(m.database(t)))(t)
			open, theirs, mine := m.mkdir(t, "open", 0o755, 0), m.mkdir(t, "theirs", 0o700, owner), m.mkdir(t, "mine", 0o700, self)
			for path, uid := range map[string]int{open + "/plants.db": 0, theirs + "/plants.db": owner, mine + "/plants.db": self, filepath.Join(m.dir, "plants.db"): self} {
				must.Do(t, errors.Join(os.WriteFile(path, text, 0o600), os.Chown(path, uid, uid)))
			}
			must.Do(t, errors.Join(os.Chmod(mine+"/plants.db", 0), os.WriteFile(mine+"/jwt-secret", []byte(strings.Repeat("s", 64)), 0o600)))
			code, out := plantstore.Finish(t, m.commandAs(t, self, strings.Fields(line)...))
			if code != 1 || !strings.Contains(out, "permission denied; "+want+"\n") {
				t.Errorf("exit code %d, want 1 and %q:\n%s", code, want, out)
			}
		})
	}
}
