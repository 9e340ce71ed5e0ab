package durability

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// TestFailingSync lets each sync fail in turn while a server creates its files and some plants.
// Dirty pages are dropped, as in Linux. The server may exit; it is restarted on the page cache.
// Then the power is cut (C5.26, C5.28). In a row, the syncs of the next start fail, too.
func TestFailingSync(t *testing.T) {
	t.Parallel()
	failEachWay(t, failingSync(), 4, plantstore.Torture(6, 50))
}

// TestFailingWrite is [TestFailingSync] for each write and each change of a
// length. On this file system the mapped pages of a file show a failed write
// until they are read again, as they may on network file systems.
func TestFailingWrite(t *testing.T) {
	t.Parallel()
	f := failingSync()
	f.hits = func(op faultfs.Op) bool { return op.Kind == faultfs.Write || op.Kind == faultfs.Truncate }
	f.creates = plantstore.Torture(6, 100)
	failEachWay(t, f, plantstore.Torture(10, 40), plantstore.Torture(4, 30)) // more than one start
}

// failingSync is the fault of a disk that fails syncs.
func failingSync() fault {
	return fault{errno: syscall.EIO, hits: faultfs.Op.IsSync, creates: plantstore.Torture(12, 150), lasting: 1, test: restartAndCutPower}
}

// failEachWay injects the fault alone, and, during fewer creates, so many times in a row.
func failEachWay(t *testing.T, f fault, lasting, creates int) {
	t.Helper()
	row := f
	row.lasting, row.creates = lasting, creates
	for name, f := range map[string]fault{"one": f, "several in a row": row} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.testEach(t)
		})
	}
}

// TestExitAfterFault makes the operations of one kind fail, and checks the response to the create,
// and that the server exits with code 1, so that its supervisor restarts it. After that, all
// acknowledged plants must be stored.
func TestExitAfterFault(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fails func(op faultfs.Op) bool
		wants func(a load.Response) bool // the response to the create
	}{
		"a page":              {isPageWrite, refusedAsFailed},
		"sync of the pages":   {faultfs.Op.IsSync, refusedAsFailed},
		"a meta page":         {isMetaWrite, saysUnknown},
		"sync of a meta page": {afterMetaWrite(faultfs.Op.IsSync), saysUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", plantstore.Seed(t))
			must.Do(t, s.start())
			s.load(1, 5)
			s.fs.SetFault(failing(syscall.EIO, tt.fails))
			if a := s.createNext(); !tt.wants(a) {
				t.Errorf("the create during the fault: %v", a)
			}
			if code := s.Server.AwaitExit(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			s.fs.SetFault(nil)
			s.wantStored()
		})
	}
}

// refusedAsFailed reports whether the response is that the plant was not stored, for another
// reason than missing space.
func refusedAsFailed(a load.Response) bool {
	return a.Code == models.CodeInternal && a.Outcome() == load.Refused
}

// afterMetaWrite returns a function that matches like the given one, from the write of a meta page on.
func afterMetaWrite(matches func(op faultfs.Op) bool) func(op faultfs.Op) bool {
	armed := false
	return func(op faultfs.Op) bool {
		armed = armed || isMetaWrite(op)
		return armed && matches(op)
	}
}

// TestSlowCommit lets creates time out while a sync takes longer: none of them may be reported as
// not stored if it is stored later (C5.28).
func TestSlowCommit(t *testing.T) {
	t.Parallel()
	for _, wrong := range timeOut(t, "") {
		t.Error(wrong)
	}
}

// timeOut returns the violations of creates that time out.
func timeOut(t *testing.T, binary string) []string {
	t.Helper()
	s := newSite(t, binary, plantstore.Seed(t))
	s.env = []string{"REQUEST_TIMEOUT=1500ms"}
	must.Do(t, s.start())
	s.fs.SetFault(func(op faultfs.Op) syscall.Errno {
		if op.IsSync() {
			time.Sleep(400 * time.Millisecond) // it simulates the disk
		}
		return 0
	})
	load.Each(8, 8, func(client int) {
		random := rand.New(rand.NewPCG(plantstore.Seed(t), uint64(client)))
		for range 4 { // a commit takes two syncs, and most creates wait for the end of another one
			s.Create(next(random))
		}
	})
	if binary == "" && len(s.Of(load.Doubtful)) == 0 {
		t.Error("no create has timed out during a commit")
	}
	s.fs.SetFault(nil)
	s.Server.Stop() // after the commits under way
	s.env = nil
	must.Do(t, s.start())
	s.repeat(load.Doubtful)
	s.repeat(load.Absent)
	s.Server.Stop()
	return s.Contradictions()
}
