package bbolt

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"plantstore/internal/must"
)

// TestGrowWithoutHoles checks that the disk has blocks for all that bbolt may use, also in a file
// whose end was never written, as those of earlier versions.
func TestGrowWithoutHoles(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	for round := range int64(4) {
		s := mustOpen(t, path)
		before := s.db.MaxSize
		createPlants(t, s, 2000*round, 2000, 50)
		allocated := int64(s.db.MaxSize) - s.pageSize
		if hole := firstHole(t, s.file); s.db.MaxSize == before || hole < allocated {
			t.Errorf("the first hole begins at %d, bbolt may use %d bytes, at first %d", hole, allocated, before)
		}
		must.Do(t, s.Close())
		m, _ := newestMeta(bytes.NewReader(snapshot(t, path)))
		used := int64(m.Pages) * int64(m.PageSize)
		if used > allocated {
			t.Errorf("bbolt uses %d bytes of %d", used, allocated)
		}
		for _, size := range []int64{used, used + 1<<20} { // the last MiB is a hole
			must.Do(t, os.Truncate(path, size))
		}
	}
}

// firstHole returns the offset of the first hole of the file, or of its end.
func firstHole(t *testing.T, file *os.File) int64 {
	t.Helper()
	hole := must.Get(unix.Seek(int(file.Fd()), 0, unix.SEEK_HOLE))(t)
	return hole
}
