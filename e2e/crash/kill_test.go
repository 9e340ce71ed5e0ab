package crash

import (
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// TestKill kills the server under load again and again, as kill -9 does, with the same file
// (C5.26).
func TestKill(t *testing.T) {
	t.Parallel()
	s := newSite(t, t.TempDir())
	rounds := plantstore.Torture(50, 1000)
	for round := range rounds {
		from := s.Len()
		s.interrupt(s.server.Kill)
		s.restart()
		if round%(rounds/10) == 0 || round == rounds-1 {
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
