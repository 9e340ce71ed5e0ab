package durability

import (
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// TestPowerLoss cuts the power after each operation of a server that makes its
// folder, secret and database, takes plants from several clients, is killed,
// started again, stopped and started again (C5.26).
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	want, images, sampled := plantstore.Torture(2000, 25_000), 0, 0
	idle := newOpeners(t)
	for round := seed(t); images < want; round++ {
		tr := recordLife(t, "", round)
		tr.variants = plantstore.Torture(8, 24)
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
	t.Logf("%d images opened, %d of them by the real program as well: nothing lost, nothing damaged", images, sampled)
}

// recordLife records what a server does in a short and busy life.
func recordLife(t testing.TB, binary string, seed uint64) *trial {
	t.Helper()
	s := newSite(t, binary, seed)
	must(t, s.start())
	ready := s.fs.Len()
	s.load(8, 100)
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

// runImage starts the real program on an image. Of what was acknowledged it must
// say that it is there.
func runImage(t *testing.T, tr *trial, c *cut) {
	t.Helper()
	dir := t.TempDir()
	must(t, c.image.Write(dir))
	server, err := plantstore.Try(t, plantstore.Options{Dir: dir})
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
