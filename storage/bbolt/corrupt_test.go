package bbolt

import (
	"bytes"
	"errors"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// TestCorruptPages checks that reads of a corrupt page fail, and that a write that meets one stores
// nothing and stops the store, which can be closed, and opened again for reading.
func TestCorruptPages(t *testing.T) {
	t.Parallel()
	original := newPageMap(t, newBigFile(t))
	for name, garbage := range map[string]field{ // of pages
		"another page":    {0, headerLen},
		"long keys":       {leafPosition.at, elementLen - leafFlags.size},
		"too many plants": pageCount,
	} {
		for what, write := range map[string]func(s *testStore) error{
			"create": func(s *testStore) error { return s.Create(t.Context(), -1, models.Plant{}) },
			"import": func(s *testStore) error {
				return errors.Join(s.CreateAll(t.Context(), []storage.Record{{ID: -1}, {ID: bigFile}})...)
			},
			"reset": func(s *testStore) error { return s.Reset(t.Context(), nil) },
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				path := original.save(t)
				must.Do(t, mustOpen(t, path).Close()) // a server has opened it
				m := newPageMap(t, path)
				for i := range 3 { // from the first on: the empty batch at the start meets none
					page := m.get(m.plants, field{branchChild.at + i*elementLen, branchChild.size})
					overwrite(t, path, int64(page)*int64(os.Getpagesize())+int64(garbage.at), bytes.Repeat([]byte{0xa5}, garbage.size))
				}
				testCorruptPages(t, path, write)
			})
		}
	}
}

func testCorruptPages(t *testing.T, path string, write func(s *testStore) error) {
	t.Helper()
	s := mustOpen(t, path)
	before := snapshot(t, path)
	if _, err := s.Get(t.Context(), 0); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Get: %v, want: %v", err, storage.ErrCorrupt)
	}
	if err := s.Ready(); err != nil {
		t.Errorf("Ready, after a read: %v", err)
	}
	if err := write(s); !errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrUnknown) {
		t.Errorf("write: %v, want only: %v", err, storage.ErrCorrupt)
	}
	<-s.Stopped()
	if err := s.Fault(); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Fault: %v, want: %v", err, storage.ErrCorrupt)
	}
	if err := s.Create(t.Context(), -2, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("a later create: %v, want only: %v", err, storage.ErrUnavailable)
	}
	must.Do(t, s.Close())
	if !bytes.Equal(before, snapshot(t, path)) {
		t.Error("the file has been changed")
	}
	s = must.Get(openTest(storage.Options{ReadOnly: true}, path))(t)
	if n, err := s.Count(t.Context()); n != bigFile || err != nil {
		t.Errorf("Count = %d, %v, want %d", n, err, bigFile)
	}
	must.Do(t, s.Close())
}

// TestListRefusesWrongOrder checks that a list ends at a key that does not follow the previous
// one: otherwise reading could restart at the same key forever.
func TestListRefusesWrongOrder(t *testing.T) {
	t.Parallel()
	s, err := openTest(storage.Options{ReadOnly: true}, newPageMap(t, newBigFile(t)).repeatRecord().save(t))
	must.Do(t, err)
	defer func() { _ = s.Close() }()
	n := 0
	for _, listErr := range s.List(t.Context(), 0) {
		n, err = n+1, listErr
	}
	if n != 2 || !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "follows key") {
		t.Errorf("%d records, then %v", n, err)
	}
}

// TestCorruptInlineBucket opens databases in which a number of the inline bucket meta is wrong,
// which bbolt would use as a length: none of them opens or grows.
func TestCorruptInlineBucket(t *testing.T) {
	t.Parallel()
	path := newFile(t, 1)
	intact := must.Get(os.ReadFile(path))(t)
	keys := bytes.Index(intact, []byte(fileKey)) // after the elements, of file and schema
	for at := -2 * elementLen; at < 0; at++ {
		if field := at & (elementLen - 1); 0 < field && field < leafFlags.size {
			continue // flags, of which one bit has a meaning: a nested bucket
		}
		file := bytes.Clone(intact)
		for i := range file { // each version of the bucket
			if bytes.HasPrefix(intact[i:], intact[keys-2*elementLen:keys+2]) {
				file[i+2*elementLen+at] ^= 0x41
			}
		}
		must.Do(t, os.WriteFile(path, file, 0o600))
		s, err := openTest(storage.Options{}, path)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "corrupt") || len(err.Error()) > 1000 {
			t.Errorf("byte %d: %.1000v, want that the database is corrupt", at, err)
		}
	}
}

// bigFile is a number of plants that fills many pages.
const bigFile = 3000

// newBigFile returns the path of a store with bigFile plants.
func newBigFile(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	s := mustOpen(t, path)
	for first := int64(0); first < bigFile; first += 100 { // several commits: pages become free
		createPlants(t, s, first, 100, 9)
	}
	must.Do(t, s.Close())
	return path
}

// corruptMeta corrupts the newest meta page of a file, or the one before it.
func corruptMeta(t *testing.T, path string, newest bool) {
	t.Helper()
	m, _ := newestMeta(bytes.NewReader(snapshot(t, path)))
	page := int64(m.Txid % 2)
	if !newest {
		page = 1 - page
	}
	overwrite(t, path, page*int64(m.PageSize)+int64(metaNumber.at), []byte{0xff})
}

// TestCorruptMetaPage checks that a database with a corrupt meta page is only opened for reading:
// bbolt silently opens the state before the last commit, or writes the next one over the page.
func TestCorruptMetaPage(t *testing.T) {
	t.Parallel()
	for name, newest := range map[string]bool{"the newest": true, "the one before": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newFile(t, 3)
			corruptMeta(t, path, newest)
			before := snapshot(t, path)
			_, err := openTest(storage.Options{}, path)
			wantLine(t, path, err, "has a corrupt meta page, and may lack its last commit: name another file, or restore a backup")
			if !errors.Is(err, storage.ErrCorrupt) || !bytes.Equal(before, snapshot(t, path)) {
				t.Errorf("Open: %v, want: %v, and an unchanged file", err, storage.ErrCorrupt)
			}
			report := check(t, path)
			if report.Plants != 3 || len(report.Corruption) != 1 || !strings.Contains(report.Corruption[0], "a meta page is corrupt") {
				t.Errorf("Check: %+v, want 3 plants and a corrupt meta page", report)
			}
		})
	}
}

// TestReadBeyondTheEnd checks that a missing page of the mapped file is an error, and does not
// crash the process.
func TestReadBeyondTheEnd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not cut a mapped file")
	}
	path := newBigFile(t)
	s := mustOpen(t, path)
	must.Do(t, os.Truncate(path, 8192))
	if _, err := s.Get(t.Context(), 1); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Get: %v", err)
	}
	for _, err := range s.List(t.Context(), math.MinInt64) {
		if err == nil {
			t.Fatal("a record was read")
		}
	}
}
