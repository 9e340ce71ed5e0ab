package crash

import (
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/volume"
)

// TestReadOnlyFileSystem lets the kernel make the file system read-only under a server under
// load, as it does when it finds corruption: the server exits, and all acknowledged plants are
// stored when the file system is writable again. The test cannot remount it read-only instead:
// the kernel refuses this while a file is open for writing.
func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	v := volume.New(t, 64<<20, volume.Ext4()...)
	s := newSite(t, v.Dir)
	for range plantstore.Torture(3, 20) {
		from := s.Len()
		s.interrupt(v.MakeReadOnly)
		for n := range writers {
			if s.create(writers+1, n) {
				t.Error("a plant was acknowledged on a read-only file system")
			}
		}
		s.wantEnd(1, "read-only file system", "input/output error") // by a write, or by a sync of one before
		wantCommand(t, v.Dir, 1, databaseFile, "serve")
		v.Unmount()
		v.Mount()
		s.Start(plantstore.Options{Dir: s.Server.Dir})
		s.verify(from)
		if t.Failed() {
			return // the first loss is enough
		}
	}
	s.verify(0)
	s.check()
}
