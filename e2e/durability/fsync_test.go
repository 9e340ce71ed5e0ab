package durability

import (
	"syscall"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/plantstore"
)

// failingSync is the fault of a disk that cannot keep what it was given.
func failingSync() fault {
	return fault{name: "sync", errno: syscall.EIO, hits: faultfs.Op.IsSync, creates: 100, lasting: 1}
}

// TestFailingSync lets each sync fail in turn, of all that a server does which
// makes its files and creates a hundred plants. The dirty pages are dropped, as
// Linux does. The server may stop; it is started again on what the page cache
// shows, and goes on. Then the power is cut (C5.26, C5.28).
func TestFailingSync(t *testing.T) {
	t.Parallel()
	failEach(t, failingSync())
}

// TestFailingSyncs is the same for several syncs in a row, also those of the next
// start.
func TestFailingSyncs(t *testing.T) {
	t.Parallel()
	f := failingSync()
	f.creates, f.lasting = plantstore.Torture(20, 50), 4
	failEach(t, f)
}

// TestFailingWrite is [TestFailingSync] for each write and each change of a
// length. On this file system the mapped pages of a file show a failed write
// until they are read anew, as they may on network file systems.
func TestFailingWrite(t *testing.T) {
	t.Parallel()
	failEach(t, failingWrite())
}

// TestFailingWrites is the same for many of them in a row.
func TestFailingWrites(t *testing.T) {
	t.Parallel()
	f := failingWrite()
	f.creates, f.lasting = plantstore.Torture(10, 30), 40
	failEach(t, f)
}

// failingWrite is the fault of a disk that takes nothing more.
func failingWrite() fault {
	isWrite := func(op faultfs.Op) bool { return op.Kind == faultfs.Write || op.Kind == faultfs.Truncate }
	return fault{name: "write", errno: syscall.EIO, hits: isWrite, creates: plantstore.Torture(30, 100), lasting: 1}
}

// TestExitAfterFault lets the sync of a meta page fail: then nobody knows what
// is on the disk. The server must end, so that its supervisor starts it again.
func TestExitAfterFault(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", seed(t))
	must(t, s.start())
	armed := false
	s.fs.SetFault(func(op faultfs.Op) syscall.Errno {
		armed = armed || isMetaWrite(op)
		if armed && op.IsSync() {
			return syscall.EIO
		}
		return 0
	})
	if a := s.createNext(); !a.unknown() {
		t.Errorf("the create in question: %v", a)
	}
	if !s.exits() {
		t.Fatalf("it is still there %v after the fault", patience)
	}
	if s.server.ExitCode() != 1 {
		t.Errorf("exit code %d, want 1", s.server.ExitCode())
	}
}

// TestSIGTERMOnBrokenDisk lets every write fail from that of a meta page on. The
// server may end by itself, and must when it is told to.
func TestSIGTERMOnBrokenDisk(t *testing.T) {
	t.Parallel()
	for healthy := range plantstore.Torture(10, 100) {
		s := newSite(t, "", seed(t))
		must(t, s.start())
		s.load(1, healthy)
		broken := false
		s.fs.SetFault(func(op faultfs.Op) syscall.Errno {
			broken = broken || isMetaWrite(op)
			if broken && op.Kind == faultfs.Write {
				return syscall.EIO
			}
			return 0
		})
		for range more {
			if a := s.createNext(); a.status == ok {
				t.Errorf("%d plants were created, then nothing could be written: %v", healthy, a)
			}
		}
		s.server.Terminate()
		if !s.exits() {
			t.Fatalf("%d plants were created, then nothing could be written: SIGTERM does not end it", healthy)
		}
	}
}

// isMetaWrite reports whether an operation writes one of the first two pages of
// a database, which hold what its last transaction is.
func isMetaWrite(op faultfs.Op) bool {
	const page = 4096
	return op.Kind == faultfs.Write && op.Offset < 2*page && len(op.Data) == page
}
