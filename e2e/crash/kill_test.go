package crash

import (
	"bytes"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// TestKill kills the server under load again and again, as kill -9 does, with the same file
// (C5.26). In every tenth round it copies the database alone to another directory: the copy is intact,
// and a server there has every acknowledged plant.
func TestKill(t *testing.T) {
	t.Parallel()
	s := newSite(t, t.TempDir())
	rounds := plantstore.Torture(50, 1000)
	for round := range rounds {
		from := s.Len()
		s.interrupt(s.Server.Kill)
		if round%10 == 5 {
			s.move()
			s.verify(0)
			s.check()
		}
		s.Start(plantstore.Options{Dir: s.Server.Dir})
		if round%10 == 0 || round == rounds-1 {
			from = 0
		}
		s.verify(from)
		if t.Failed() {
			return // the first loss is enough
		}
	}
	s.check()
	t.Logf("%d kills, %d plants were acknowledged", rounds, s.Len())
}

// move continues with a copy of the database in another directory.
func (s *site) move() {
	s.t.Helper()
	dir, file := s.t.TempDir(), readDatabase(s.t, s.Server.Dir)
	writeDatabase(s.t, dir, file)
	plantstore.Run(s.t, dir, "check")
	plantstore.Run(s.t, dir, "plants", "export", "--quiet", "plants.jsonl")
	plantstore.Run(s.t, dir, "backup", "--quiet", "backup.db")
	if !bytes.Equal(readDatabase(s.t, dir), file) {
		s.t.Error("a command that reads has changed the database")
	}
	s.Server = plantstore.Start(s.t, plantstore.Options{Dir: dir})
	s.Token = s.Server.Token("--ttl", "0") // this server has a secret of its own
}
