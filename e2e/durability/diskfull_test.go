package durability

import (
	"math"
	"strings"
	"syscall"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// TestFullDisk makes the disk full from each operation on that needs space, of a server that
// creates its files and some plants. While the disk is full, a plant either fits into existing
// pages or is error 507. When there is space again, the same process accepts all plants. One of the
// file systems writes in place; the other never does, so that each page needs space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	inPlace := fault{
		errno: syscall.ENOSPC, hits: func(op faultfs.Op) bool { return op.TakesSpace },
		creates: plantstore.Torture(100, 300), lasting: math.MaxInt, test: fillDisk,
	}
	elsewhere := inPlace
	elsewhere.hits = func(op faultfs.Op) bool { return op.TakesSpace || isPageWrite(op) }
	elsewhere.creates = plantstore.Torture(10, 60)
	for name, f := range map[string]fault{"in place": inPlace, "never in place": elsewhere} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.testEach(t)
		})
	}
}

// fillDisk starts the server, possibly without space for that, and creates plants. Then there is
// space again.
func fillDisk(a *attempt, _ int) {
	if err := a.start(); err != nil {
		if a.failures.Load() == 0 {
			a.t.Fatal(err)
		}
		a.fs.SetFault(nil)
		if err := a.start(); err != nil {
			a.violate("it does not start although there is space again: %v", err)
			return
		}
	}
	ready := a.fs.Len()
	for range a.creates {
		switch r := a.createNext(); {
		case r.Outcome() == load.Created:
		case a.failures.Load() == 0:
			a.t.Fatalf("a create on a healthy disk: %v", r)
		case r.Code != models.CodeInsufficientSpace || r.Outcome() != load.Refused:
			a.violate("on a full disk: %v", r)
		default:
			a.response = r.String()
		}
	}
	a.fs.SetFault(nil)
	a.resume()
	a.Server.Stop()
	a.cutPower(ready, plantstore.Torture(4, 12), thin(every(ready, a.fs.Len()), plantstore.Torture(20, 200)))
}

// TestFullDiskDuringBackup backs up a store while its disk is full. The copy, on another
// disk, may fail; the server continues, and accepts plants once there is space.
func TestFullDiskDuringBackup(t *testing.T) {
	t.Parallel()
	for _, free := range []int{0, 1, 2, 3, 5, 8, 16} { // writes to the database that still succeed
		s := newSite(t, "", plantstore.Seed(t))
		must.Do(t, s.start())
		s.load(1, 20)
		writes := 0
		s.fs.SetFault(failing(syscall.ENOSPC, func(op faultfs.Op) bool {
			if isPageWrite(op) {
				writes++
			}
			return isPageWrite(op) && writes > free
		}))
		code, out := plantstore.Finish(t, plantstore.Command(t, t.TempDir(), []string{"STORAGE_URL=" + s.url()}, "backup", "copy.db"))
		if code != 0 && !strings.Contains(out, "space") {
			t.Errorf("space for %d writes: exit code %d\n%s", free, code, out)
		}
		s.fs.SetFault(nil)
		if a := s.createNext(); a.Outcome() != load.Created {
			t.Errorf("space for %d writes, then for all: %v", free, a)
		}
		s.Server.Stop()
	}
}

// TestFullDiskAtClose has no space for the first writes to the database while a server shuts down:
// it needs none. The next server has all plants.
func TestFullDiskAtClose(t *testing.T) {
	t.Parallel()
	for failed := range 6 {
		s := newSite(t, "", plantstore.Seed(t))
		must.Do(t, s.start())
		s.load(1, 5)
		writes := 0
		s.fs.SetFault(failing(syscall.ENOSPC, func(op faultfs.Op) bool {
			if isPageWrite(op) {
				writes++
			}
			return isPageWrite(op) && writes <= failed
		}))
		if code := s.end(); code != 0 {
			t.Errorf("no space for %d writes: exit code %d", failed, code)
		}
		s.fs.SetFault(nil)
		s.wantStored()
	}
}
