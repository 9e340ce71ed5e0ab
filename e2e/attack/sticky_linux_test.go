package attack

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestLinkInStickyDirectory checks that root does not follow a link of the attacker to a file of
// root in a directory such as /tmp, whatever fs.protected_symlinks is.
func TestLinkInStickyDirectory(t *testing.T) {
	t.Parallel()
	for line, tt := range map[string]struct {
		planted, want string // name of the link, and the error
		code          int
	}{
		"plants export --storage-url DATABASE STICKY/plants.csv":         {"plants.csv", "is not a regular file", 2},
		"plants export --force --storage-url DATABASE STICKY/plants.csv": {"plants.csv", "is not a regular file", 2},
		"backup --storage-url DATABASE STICKY/backup.db":                 {"backup.db", "is not a regular file", 2},
		"plants import --storage-url STICKY/plants.db PLANTS":            {"plants.db.journal", "too many levels of symbolic links", 1},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			m := newSite(t)
			database, sticky := m.database(t), m.mkdir(t, "sticky", fs.ModeSticky|0o777, 0)
			text, err := os.ReadFile(database)
			must(t, errors.Join(err, os.WriteFile(sticky+"/plants.db", text, 0o600)))
			m.link(t, sticky+"/"+tt.planted)
			paths := strings.NewReplacer("STICKY", sticky, "DATABASE", database, "PLANTS", m.dir+"/plants.jsonl")
			out, code := run(m.command(t, strings.Fields(paths.Replace(line))...))
			if code != tt.code || !strings.Contains(out, tt.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tt.code, tt.want, out)
			}
			m.checkVictim(t)
		})
	}
}
