package attack

import (
	"io/fs"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// TestLinkInStickyDirectory checks that root does not follow a link of the attacker to a file of
// root in a directory such as /tmp, whatever fs.protected_symlinks is.
func TestLinkInStickyDirectory(t *testing.T) {
	t.Parallel()
	for line, planted := range map[string]string{
		"plants export --storage-url DATABASE STICKY/plants.csv":         "plants.csv",
		"plants export --force --storage-url DATABASE STICKY/plants.csv": "plants.csv",
		"backup --storage-url DATABASE STICKY/backup.db":                 "backup.db",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			m := newSite(t)
			database, sticky := m.database(t), m.mkdir(t, "sticky", fs.ModeSticky|0o777, 0)
			m.link(t, sticky+"/"+planted)
			paths := strings.NewReplacer("STICKY", sticky, "DATABASE", database)
			code, out := plantstore.Finish(t, m.command(t, strings.Fields(paths.Replace(line))...))
			if code != 2 || !strings.Contains(out, "is not a regular file") {
				t.Errorf("exit code %d, want 2:\n%s", code, out)
			}
			m.checkVictim(t)
		})
	}
}
