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
	"plantstore/storage"
)

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
