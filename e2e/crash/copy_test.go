package crash

import (
	"bytes"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// TestCopyAfterKill kills a server under load and copies its database alone to another directory:
// the copy is intact, and a server there has every acknowledged plant (C5.26).
func TestCopyAfterKill(t *testing.T) {
	t.Parallel()
	s := newSite(t, t.TempDir())
	for range plantstore.Torture(5, 50) {
		s.interrupt(s.server.Kill)
		dir, file := t.TempDir(), readDatabase(t, s.server.Dir)
		writeDatabase(t, dir, file)
		plantstore.Run(t, dir, "check")
		plantstore.Run(t, dir, "plants", "export", "--quiet", "plants.jsonl")
		plantstore.Run(t, dir, "backup", "--quiet", "backup.db")
		if !bytes.Equal(readDatabase(t, dir), file) {
			t.Error("a command that reads has changed the database")
		}
		s.server = plantstore.Start(t, plantstore.Options{Dir: dir})
		s.token = s.server.Token("--ttl", "0") // this server has a secret of its own
		s.verify(0)
		s.check()
		s.restart()
	}
	t.Logf("%d copies, %d plants were acknowledged", s.rounds, s.Len())
}
