package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// TestReadOnlyFileSystem lets the kernel make the file system read-only under a
// server under load, as it does when it finds damage: nothing is acknowledged
// that is not there when it can be written to again. An administrator cannot do
// the same, for the kernel refuses while a file is open for writing.
func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	v := newVolume(t, 64<<20, mkfsExt4()...)
	s := newSite(t, v.dir)
	for range plantstore.Torture(4, 40) {
		from := len(s.acknowledged)
		s.interrupt(v.makeReadOnly)
		for n := range writers {
			if s.create(s.body(writers+1, n)) {
				t.Error("a plant was acknowledged on a read-only file system")
			}
		}
		s.server.Terminate()
		wantEnd(t, s, "read-only file system")
		wantRefusal(t, filepath.Join(v.dir, databaseFile), "serve")
		v.unmount()
		v.mount()
		s.restart()
		s.verify(from)
		if t.Failed() {
			return // the first loss tells most
		}
	}
	s.verify(0)
	s.check()
}

// makeReadOnly tells the file system, an ext4, that it is damaged.
func (v *volume) makeReadOnly() {
	v.t.Helper()
	device, err := os.Readlink(fmt.Sprintf("/sys/dev/block/7:%d", v.minor()))
	must(v.t, err)
	must(v.t, os.WriteFile(filepath.Join("/sys/fs/ext4", filepath.Base(device), "trigger_fs_error"), []byte("a test"), 0))
}

// minor returns the number of the loop device.
func (v *volume) minor() uint64 {
	v.t.Helper()
	var stat syscall.Stat_t
	must(v.t, syscall.Stat(v.dir, &stat))
	return stat.Dev&0xff | stat.Dev>>12&^0xff
}
