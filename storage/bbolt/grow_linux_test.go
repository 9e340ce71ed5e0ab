package bbolt

import (
	"math/rand/v2"
	"os"
	"testing"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"plantstore/models"
)

// TestGrowWithoutHoles checks that the disk has blocks for all that bbolt may use, also in a file
// whose end was never written, as those of earlier versions.
func TestGrowWithoutHoles(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		s := mustOpen(t, path)
		before := s.db.MaxSize
		createSome(t, s, random, map[int64]models.Plant{}, 2000)
		allocated := int64(s.db.MaxSize) - s.pageSize
		if hole := firstHole(t, s.file); s.db.MaxSize == before || hole < allocated {
			t.Errorf("the first hole begins at %d, bbolt may use %d bytes, at first %d", hole, allocated, before)
		}
		var used int64
		if err := s.db.View(func(tx *bolt.Tx) error {
			used = tx.Size()
			return nil
		}); err != nil || used > allocated {
			t.Errorf("%v; bbolt uses %d bytes of %d", err, used, allocated)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int64{used, used + 1<<20} { // the last MiB is a hole
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// firstHole returns the offset of the first hole of the file, or of its end.
func firstHole(t *testing.T, file *os.File) int64 {
	t.Helper()
	hole, err := unix.Seek(int(file.Fd()), 0, unix.SEEK_HOLE)
	if err != nil {
		t.Fatal(err)
	}
	return hole
}
