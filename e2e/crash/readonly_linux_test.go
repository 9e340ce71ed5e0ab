package crash

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	for name, env := range journals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := volume.New(t, 64<<20, volume.Ext4()...)
			testReadOnly(t, v, newSite(t, v.Dir, env))
		})
	}
}

func testReadOnly(t *testing.T, v *volume.Volume, s *site) {
	t.Helper()
	for range plantstore.Torture(3, 20) {
		from := len(s.acknowledged)
		s.interrupt(v.MakeReadOnly)
		for n := range writers {
			if s.create(s.body(writers+1, n)) {
				t.Error("a plant was acknowledged on a read-only file system")
			}
		}
		wantEnd(t, s, "read-only file system")
		wantRefusal(t, filepath.Join(v.Dir, databaseFile), "serve")
		v.Unmount()
		v.Mount()
		revertLostPages(t, filepath.Join(v.Dir, databaseFile))
		s.restart()
		s.verify(from)
		if t.Failed() {
			return // the first loss is enough
		}
	}
	s.verify(0)
	s.check()
}

// revertLostPages makes the last transaction of a database invalid if the file system has lost its
// pages, as docs/durability.md describes: ext4 may report a sync of newly allocated blocks as done
// while it becomes read-only. Plants that were acknowledged are in the journal, unless a batch
// went straight to the tree.
func revertLostPages(t *testing.T, path string) {
	t.Helper()
	const page, root, txid = 4096, 16 + 16, 16 + 48 // offsets of the fields in a meta page
	contents, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newest := 0
	if binary.NativeEndian.Uint64(contents[page+txid:]) > binary.NativeEndian.Uint64(contents[txid:]) {
		newest = page
	}
	id := binary.NativeEndian.Uint64(contents[newest+root:])
	if binary.NativeEndian.Uint64(contents[id*page:]) == id { // the page is there
		return
	}
	t.Log("the pages of the last transaction are lost")
	contents[newest+txid] ^= 0xff // its checksum is wrong now
	if err := os.WriteFile(path, contents, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".mark"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
