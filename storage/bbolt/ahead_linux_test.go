package bbolt

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"plantstore/models"
)

// holed reports whether the file system keeps zeros that are written as a hole.
func holed(t *testing.T) bool {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "zeros"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	const size = 1 << 20
	if _, err := file.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
	hole, err := unix.Seek(int(file.Fd()), 0, unix.SEEK_HOLE)
	if err != nil {
		t.Fatal(err)
	}
	return hole < size
}

// Where a commit is going to put new pages the file has been written to, and has
// no hole.
func TestWriteAhead(t *testing.T) {
	t.Parallel()
	if holed(t) {
		t.Skip("this file system keeps no zeros: it has nothing to write ahead")
	}
	s := mustOpen(t, newBigFile(t))
	if err := s.Create(t.Context(), math.MaxInt64, models.Plant{Name: "last"}); err != nil {
		t.Fatal(err)
	}
	used, size := usedBytes(t, s), s.size.Load()
	want := min(used+aheadLow, size-s.pageSize)
	if want <= used {
		t.Fatalf("the file has %d bytes, of which %d are used: nothing is to be seen", size, used)
	}
	hole, err := unix.Seek(int(s.file.Fd()), used, unix.SEEK_HOLE)
	if err != nil {
		t.Fatal(err)
	}
	if hole < want {
		t.Errorf("there is a hole at %d; of %d bytes %d are used", hole, size, used)
	}
	if s.written < want || s.written >= size {
		t.Errorf("written up to %d of %d bytes, of which %d are used", s.written, size, used)
	}
}

// What is written ahead makes no file longer, least of all one that was cut short.
func TestWriteAheadMakesNothingLonger(t *testing.T) {
	t.Parallel()
	path := newBigFile(t)
	s := mustOpen(t, path)
	used := usedBytes(t, s)
	for _, size := range []int64{s.size.Load(), used + s.pageSize, used, used - s.pageSize} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		s.written = 0
		s.writeAhead(used)
		there, err := sight(path)
		if err != nil {
			t.Fatal(err)
		}
		if there.size >= s.size.Load() && size < there.size {
			t.Errorf("a file of %d bytes, of which %d are left, has %d", s.size.Load(), size, there.size)
		}
	}
	if _, err := s.intact(); err == nil {
		t.Error("that the file was cut short is not seen")
	}
}

// What the store writes ahead never lies where there are pages.
func TestWriteAheadKeepsToItsPlace(t *testing.T) {
	t.Parallel()
	path := newFile(t, 1)
	s := mustOpen(t, path)
	for id := range int64(300) {
		if err := s.Create(t.Context(), math.MaxInt64-300+id, models.Plant{Name: "plant"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if plants, err := Check(t.Context(), path); err != nil || plants != 301 {
		t.Errorf("Check: %d plants, %v", plants, err)
	}
}

// A sighting tells files apart, and sees an open one as the same that is there.
func TestSight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, name := range []string{path, other} {
		if err := os.WriteFile(name, make([]byte, 7), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	open, err := sightOf(file)
	if err != nil || open.size != 7 {
		t.Fatalf("the open file: %+v, %v", open, err)
	}
	if there, err := sight(path); err != nil || !there.sameFile(open) || there.size != 7 {
		t.Errorf("the same: %+v, %v", there, err)
	}
	if old, err := fstatat(unix.AT_FDCWD, path, 0); err != nil || old != open {
		t.Errorf("without statx: %+v, %v, want %+v", old, err, open)
	}
	if old, err := fstatat(int(file.Fd()), "", unix.AT_EMPTY_PATH); err != nil || old != open {
		t.Errorf("the open file without statx: %+v, %v, want %+v", old, err, open)
	}
	if there, err := sight(other); err != nil || there.sameFile(open) {
		t.Errorf("another: %+v, %v", there, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := sight(path); !os.IsNotExist(err) {
		t.Errorf("none: %v", err)
	}
}

// usedBytes returns how much of the file has pages.
func usedBytes(t *testing.T, s *Store) (n int64) {
	t.Helper()
	if err := s.db.View(func(tx *bolt.Tx) error { n = tx.Size(); return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}
