package durability

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestPowerLoss cuts the power after each operation of a server that creates its directory, secret
// and database, accepts creates of several clients during a backup, is killed, restarted, shut down
// and restarted (C5.26).
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	want, variants := plantstore.Torture(1000, 30_000), plantstore.Torture(4, 24)
	images, sampled := 0, 0
	idle := newOpeners(t)
	for round := plantstore.Seed(t); images < want; round++ {
		tr := recordLife(t, "", round, variants)
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
func recordLife(t testing.TB, binary string, seed uint64, variants int) *trial {
	t.Helper()
	s := newSite(t, binary, seed)
	must.Do(t, s.start())
	s.fs.SetFault(s.noteNewBlock)
	ready := s.fs.Len()
	s.load(8, 80)
	backup := s.backup()
	s.load(8, 40)
	backup()
	s.Server.Kill()
	must.Do(t, s.start())
	s.load(8, 50)
	s.load(1, 10)
	s.Server.Stop()
	must.Do(t, s.start())
	s.load(3, 10)
	s.Server.Stop()
	return s.trial(ready, variants, every(0, s.fs.Len()))
}

// noteNewBlock is a fault that never fails an operation. It notes a page for which the disk has no
// block: a sync that allocates one can be lost with the journal of an ext4. Only zeros may be.
func (s *site) noteNewBlock(op faultfs.Op) syscall.Errno {
	if isPageWrite(op) && op.TakesSpace && len(bytes.Trim(op.Data, "\x00")) > 0 {
		s.Object("a page was written to a new block of the disk, at %d", op.Offset)
	}
	return 0
}

// backup begins a backup of the running server. It returns a function that waits for the end of
// the backup and checks the copy. The ledger gets what is wrong.
func (s *site) backup() (wait func()) {
	s.t.Helper()
	before, file := s.fs.Len(), filepath.Join(s.t.TempDir(), "copy.db")
	cmd := plantstore.Command(s.t, s.t.TempDir(), []string{"STORAGE_URL=" + s.url()}, "backup", file)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must.Do(s.t, cmd.Start())
	return func() {
		s.t.Helper()
		if err := cmd.Wait(); err != nil {
			s.t.Errorf("backup: %v\n%s", err, &out)
			return
		}
		plants := must.Get(reading(file))(s.t)
		for _, wrong := range s.Check(before, plants) {
			s.Object("the backup: %s", wrong)
		}
	}
}

// runImage starts the real program on an image. It must have all acknowledged plants.
func runImage(t *testing.T, tr *trial, c cut) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, c.image.Write(dir))
	server, err := plantstore.Try(t, plantstore.Options{Dir: dir})
	if err != nil {
		t.Errorf("seed %d, %v: %v", tr.seed, c, err)
		return
	}
	again, token := load.NewLedger(), server.Token("--ttl", "0")
	again.Post = func(body string) (plantstore.Reply, error) { return server.TryPost(token, body) }
	checked := 0
	for id, e := range tr.Of(load.Stored) {
		if e.At > c.point || checked == 40 {
			continue
		}
		checked++
		if a := again.Create(id, e.Plant); a.Outcome() != load.Identical {
			t.Errorf("seed %d, %v: id %d is lost: %v", tr.seed, c, id, a)
		}
	}
	if a := again.Create(next(rand.New(rand.NewPCG(^tr.seed, 0)))); a.Outcome() != load.Created {
		t.Errorf("seed %d, %v: a new plant: %v", tr.seed, c, a)
	}
	server.Stop()
}
