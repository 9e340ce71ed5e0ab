package bbolt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"plantstore/models"
	"plantstore/storage"
)

// TestGrowWithoutHoles checks that the disk has blocks for all that bbolt may use, also in a file
// whose end was never written, as those of earlier versions.
func TestGrowWithoutHoles(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // no secret
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

// TestGrowShortenedFile checks that a file that was cut short while it was open does not become
// as long as it was.
func TestGrowShortenedFile(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newFile(t, 100))
	size := s.size.Load()
	if err := s.file.Truncate(size - s.pageSize); err != nil {
		t.Fatal(err)
	}
	if err := s.grow(minGrowth); err == nil {
		t.Error("no error")
	}
	if there, err := statOpen(s.file); err != nil || there.size >= size {
		t.Errorf("it has %d bytes, %v, before %d", there.size, err, size)
	}
}

// TestCommitShortenedFile cuts off the end of the file, which no page of the commit needs: the
// commit detects it.
func TestCommitShortenedFile(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newFile(t, 100))
	if err := s.Create(t.Context(), 1000, models.Plant{Name: fmt.Sprint(1000)}); err != nil { // the file grows
		t.Fatal(err)
	}
	if err := s.file.Truncate(s.size.Load() - s.pageSize); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), 1001, models.Plant{}); !errors.Is(err, storage.ErrUnknown) {
		t.Errorf("Create: %v, want: %v", err, storage.ErrUnknown)
	}
}
