package durability

import (
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/plantstore"
	"plantstore/storage/bbolt/journal"
)

// failingSync is the fault of a disk that fails syncs.
func failingSync() fault {
	return fault{name: "sync", errno: syscall.EIO, hits: faultfs.Op.IsSync, creates: plantstore.Torture(60, 150), lasting: 1, program: journalled()}
}

// TestFailingSync lets each sync fail in turn while a server creates its files and enough
// plants to fill both halves of the journal more than once. Dirty pages are dropped, as in
// Linux. The server may exit; it is restarted on the page cache. Then the power is cut
// (C5.26, C5.28). In a row, the syncs of the next start fail, too.
func TestFailingSync(t *testing.T) {
	t.Parallel()
	failEachWay(t, failingSync(), 4, plantstore.Torture(20, 50), plantstore.Torture(15, 100))
}

// TestFailingWrite is [TestFailingSync] for each write and each change of a
// length. On this file system the mapped pages of a file show a failed write
// until they are read again, as they may on network file systems.
func TestFailingWrite(t *testing.T) {
	t.Parallel()
	failEachWay(t, failingWrite(), 40, plantstore.Torture(10, 30), plantstore.Torture(8, 100))
}

// failEachWay injects the fault alone, so many times in a row, and, more briefly, without a
// journal, where each create is written to the tree at once.
func failEachWay(t *testing.T, f fault, lasting, creates, direct int) {
	t.Helper()
	row, tree := f, f
	row.lasting, row.creates = lasting, creates
	tree.creates, tree.program.journal = direct, 0
	for name, f := range map[string]fault{"one": f, "several in a row": row, "without a journal": tree} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failEach(t, f)
		})
	}
}

// failingWrite is the fault of a disk that fails writes.
func failingWrite() fault {
	isWrite := func(op faultfs.Op) bool { return op.Kind == faultfs.Write || op.Kind == faultfs.Truncate }
	return fault{name: "write", errno: syscall.EIO, hits: isWrite, creates: plantstore.Torture(40, 100), lasting: 1, program: journalled()}
}

// TestExitAfterFault makes single operations fail, and checks the response to the create and
// whether the server exits with code 1, so that its supervisor restarts it. After that, all
// acknowledged plants must be stored.
func TestExitAfterFault(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		journal int
		// fails reports whether an operation fails; faults is the number of failures so far
		fails func(op faultfs.Op, faults int) bool
		wants func(a reply) bool // the first response that is not 200; nil: there is none
		ends  bool
	}{
		"sync of the journal": {
			journal.MinSize, func(op faultfs.Op, _ int) bool { return isSync(op, theJournal) }, reply.unknown, true,
		},
		"a write to the journal": {
			journal.MinSize, func(op faultfs.Op, faults int) bool { return faults == 0 && isWrite(op, theJournal) }, refusedAsFailed, false,
		},
		"all writes to the journal": {
			journal.MinSize, func(op faultfs.Op, _ int) bool { return isWrite(op, theJournal) }, reply.unknown, true,
		},
		"a page of a checkpoint": {
			journal.MinSize, func(op faultfs.Op, faults int) bool { return faults == 0 && isWrite(op, database) }, nil, true,
		},
		"sync of a checkpoint": {
			journal.MinSize, func(op faultfs.Op, faults int) bool { return faults == 0 && isSync(op, database) }, nil, true,
		},
		"a page, without a journal": {
			0, func(op faultfs.Op, faults int) bool { return faults == 0 && isWrite(op, database) }, refusedAsFailed, true,
		},
		"sync of a meta page, without a journal": {
			0, failsAfterMeta(), reply.unknown, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := journalled()
			p.journal = tt.journal
			exitAfterFault(t, newSite(t, p, seed(t)), tt.fails, tt.wants, tt.ends)
		})
	}
}

// refusedAsFailed reports whether the response is that the plant was not stored, for another
// reason than missing space.
func refusedAsFailed(a reply) bool {
	return a.code == http.StatusInternalServerError && a.fate() == absent
}

// failsAfterMeta returns a function that lets all syncs after the sync of a meta page fail.
func failsAfterMeta() func(op faultfs.Op, faults int) bool {
	armed := false
	return func(op faultfs.Op, _ int) bool {
		armed = armed || isMetaWrite(op)
		return armed && op.IsSync()
	}
}

func exitAfterFault(t *testing.T, s *site, fails func(op faultfs.Op, faults int) bool, wants func(a reply) bool, ends bool) {
	t.Helper()
	must(t, s.start())
	var faults atomic.Int64
	s.fs.SetFault(func(op faultfs.Op) syscall.Errno {
		if !fails(op, int(faults.Load())) {
			return 0
		}
		faults.Add(1)
		return syscall.EIO
	})
	first := reply{status: ok}
	for range 300 { // far more than both halves can hold
		if a := s.createNext(); a.status != ok {
			first = a
			break
		}
	}
	switch {
	case faults.Load() == 0:
		t.Fatal("there was no fault")
	case wants != nil && !wants(first):
		t.Errorf("the create during the fault: %v", first)
	case wants == nil && first.unknown():
		t.Errorf("a create unrelated to the fault: %v", first)
	}
	switch {
	case !ends:
		if a := s.createNext(); a.status != ok {
			t.Errorf("the next create: %v", a)
		}
	case !s.exits():
		t.Fatalf("the server still runs %v after the fault", patience)
	case s.server.ExitCode() != 1:
		t.Errorf("exit code %d, want 1", s.server.ExitCode())
	}
	s.fs.SetFault(nil)
	s.server.Kill()
	must(t, s.start())
	for id, plant := range s.ledger.of(stored) {
		s.create(id, plant)
	}
	for id, plant := range s.ledger.of(absent) {
		s.create(id, plant)
	}
	s.server.Stop()
	for _, contradiction := range s.ledger.contradictions {
		t.Error(contradiction)
	}
}

// TestSIGTERMOnBrokenDisk makes every write fail, from a write to the journal or a meta page on.
// The server may exit, and must do so when it gets the signal.
func TestSIGTERMOnBrokenDisk(t *testing.T) {
	t.Parallel()
	for healthy := range plantstore.Torture(10, 100) {
		s := newSite(t, journalled(), seed(t))
		if healthy%2 == 0 {
			s.journal = 0
		}
		must(t, s.start())
		s.load(1, healthy)
		broken := false
		s.fs.SetFault(func(op faultfs.Op) syscall.Errno {
			broken = broken || isMetaWrite(op) || isWrite(op, theJournal)
			if broken && op.Kind == faultfs.Write {
				return syscall.EIO
			}
			return 0
		})
		for range more {
			if a := s.createNext(); a.status == ok {
				t.Errorf("%d plants were created, then every write failed: %v", healthy, a)
			}
		}
		s.server.Terminate()
		if !s.exits() {
			t.Fatalf("%d plants were created, then every write failed: SIGTERM does not stop the server", healthy)
		}
	}
}

// isMetaWrite reports whether an operation writes one of the first two pages of
// a database, the meta pages.
func isMetaWrite(op faultfs.Op) bool {
	const page = 4096
	return isWrite(op, database) && op.Offset < 2*page && len(op.Data) == page
}
