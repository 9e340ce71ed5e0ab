package durability

import (
	"bytes"
	"path/filepath"
	"strconv"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// TestPowerLoss cuts the power after each operation of a server that creates its directory,
// secret, database and journal, accepts creates of several clients during a backup, is killed,
// restarted, shut down and restarted (C5.26). The halves of its journal are filled some ten
// times.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	losePower(t, journalled(), plantstore.Torture(2000, 30_000), plantstore.Torture(8, 24))
}

// TestPowerLossWithoutJournal is a shorter [TestPowerLoss] where each create is written
// to the tree at once.
func TestPowerLossWithoutJournal(t *testing.T) {
	t.Parallel()
	losePower(t, program{}, plantstore.Torture(500, 10_000), plantstore.Torture(2, 24))
}

func losePower(t *testing.T, p program, want, variants int) {
	t.Helper()
	images, sampled := 0, 0
	idle := newOpeners(t)
	for round := seed(t); images < want; round++ {
		tr := recordLife(t, p, round)
		tr.variants = variants
		r := tr.run(t, idle)
		images += r.images
		for _, v := range r.violations {
			t.Errorf("seed %d, %s", round, v)
		}
		for _, c := range r.samples {
			runImage(t, tr, c)
		}
		sampled += len(r.samples)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d images opened, %d of them by the real program as well: no plant lost, none corrupt", images, sampled)
}

// recordLife records the operations of a server with backups, restarts and a kill.
func recordLife(t testing.TB, p program, seed uint64) *trial {
	t.Helper()
	s := newSite(t, p, seed)
	must(t, s.start())
	ready := s.fs.Len()
	s.load(8, 80)
	backup := s.backup()
	s.load(8, 40)
	backup()
	s.server.Kill()
	must(t, s.start())
	s.load(8, 50)
	s.load(1, 10)
	s.server.Stop()
	must(t, s.start())
	s.load(3, 10)
	s.server.Stop()
	tr := newTrial(t, s, seed, ready)
	tr.cuts = every(0, len(tr.log))
	return tr
}

// backup begins a backup of the running server. It returns a function that waits for the end of
// the backup and checks the copy.
func (s *site) backup() (wait func()) {
	s.t.Helper()
	before, file := s.fs.Len(), filepath.Join(s.t.TempDir(), "copy.db")
	cmd := plantstore.Command(s.t, s.t.TempDir(), []string{"STORAGE_URL=" + s.url()}, "backup", file)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must(s.t, cmd.Start())
	return func() {
		s.t.Helper()
		if err := cmd.Wait(); err != nil {
			s.t.Errorf("backup: %v\n%s", err, &out)
			return
		}
		plants, err := reading(file)
		must(s.t, err)
		for _, wrong := range s.ledger.check(before, plants) {
			s.t.Errorf("the backup: %s", wrong)
		}
	}
}

// runImage starts the real program on an image. It must have all acknowledged plants.
func runImage(t *testing.T, tr *trial, c *cut) {
	t.Helper()
	dir := t.TempDir()
	must(t, c.image.Write(dir))
	server, err := plantstore.Try(t, plantstore.Options{Dir: dir, Env: []string{"JOURNAL_BYTES=" + strconv.Itoa(tr.program.journal)}})
	if err != nil {
		t.Errorf("seed %d, %v: %v", tr.seed, c, err)
		return
	}
	s := newVisitor(t, server, ^tr.seed)
	checked := 0
	for id, e := range tr.ledger.entries {
		if e.fate != stored || e.position > c.point || checked == 40 {
			continue
		}
		checked++
		if a := s.post(id, e.plant); a.fate() != stored || a.status == ok {
			t.Errorf("seed %d, %v: id %d is lost: %v", tr.seed, c, id, a)
		}
	}
	if a := s.post(s.next()); a.status != ok {
		t.Errorf("seed %d, %v: a new plant: %v", tr.seed, c, a)
	}
	server.Stop()
}

// must fails the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
