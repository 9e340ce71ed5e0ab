package bbolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

// bigFile is a number of plants that fills many pages.
const bigFile = 3000

func bigBatch() (batch []storage.Item) {
	for id := range int64(bigFile) {
		batch = append(batch, storage.Item{Record: storage.Record{ID: id, Plant: models.Plant{Name: fmt.Sprint("fern ", id)}}})
	}
	return batch
}

// newBigFile returns the path of a store with bigFile plants.
func newBigFile(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	s := mustOpen(t, path)
	for batch := range slices.Chunk(bigBatch(), 100) { // one commit each: the same pages in each run
		if err := s.Commit(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// corruptMeta corrupts the newest meta page of a file, or the one before it.
func corruptMeta(t *testing.T, path string, newest bool) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	m, found := newestMeta(file)
	if !found {
		t.Fatal("no meta page")
	}
	page := int64(m.Txid % 2)
	if !newest {
		page = 1 - page
	}
	if _, err := file.WriteAt([]byte{0xff}, page*int64(m.PageSize)+metaStart+48 /* Txid */); err != nil {
		t.Fatal(err)
	}
}

// TestNewestMetaPageCorrupt checks that a database that was closed cleanly, and whose newest meta
// page is corrupt, is refused, or has all plants: bbolt silently opens the state before its last
// commit. With a journal the last commit marks the database clean, so that without it the journal,
// which was removed, is missing.
func TestNewestMetaPageCorrupt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options storage.Options
		between func(t *testing.T, s *testStore)
		want    string // in the refusal
	}{
		"with a journal":    {withJournal(), func(*testing.T, *testStore) {}, "may lack plants that are only in its journal"},
		"without a journal": {storage.Options{}, func(*testing.T, *testStore) {}, ""},
		"after a snapshot and a large batch": {withJournal(), func(t *testing.T, s *testStore) {
			t.Helper()
			if err := errors.Join(s.Snapshot(t.Context(), io.Discard), s.Commit(bigBatch())); err != nil {
				t.Fatal(err)
			}
		}, "may lack plants that are only in its journal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s, err := openStore(tt.options, path)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Commit([]storage.Item{{Record: storage.Record{ID: math.MaxInt64}}}); err != nil {
				t.Fatal(err)
			}
			tt.between(t, s)
			plants, err := s.Count(t.Context())
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			corruptMeta(t, path, true)
			if tt.want == "" {
				wantPlants(t, path, plants)
				return
			}
			for _, readOnly := range []bool{false, true} {
				_, err := openStore(storage.Options{ReadOnly: readOnly}, path)
				wantLine(t, path, err, tt.want)
			}
			if report := check(t, path); len(report.Corruption) != 1 || !strings.Contains(report.Corruption[0], tt.want) {
				t.Errorf("Check: %+v", report)
			}
		})
	}
}

func TestOlderMetaPageCorrupt(t *testing.T) {
	t.Parallel()
	path := newFile(t, 3)
	corruptMeta(t, path, false)
	s := mustOpen(t, path)
	if err := s.Create(t.Context(), 100, models.Plant{Name: "a"}); err != nil {
		t.Error(err)
	}
}

// TestResyncMetaRewrites checks that the meta pages are rewritten unchanged at each start.
func TestResyncMetaRewrites(t *testing.T) {
	t.Parallel()
	path := newFile(t, 3)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	m, _ := newestMeta(file)
	if err := resyncMeta(file, int64(m.PageSize)); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed, %v", err)
	}
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = readOnly.Close() }()
	if err := resyncMeta(readOnly, int64(m.PageSize)); !errors.Is(err, fs.ErrPermission) && !strings.Contains(fmt.Sprint(err), "bad file descriptor") {
		t.Errorf("a page that cannot be written: %v", err)
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
	if err := os.Truncate(path, 8192); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), 1); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Get: %v", err)
	}
	for _, err := range s.List(t.Context(), math.MinInt64) {
		if err == nil {
			t.Fatal("a record was read")
		}
	}
}

func TestOpenReadOnly(t *testing.T) {
	t.Parallel()
	path := newFile(t, 3)
	before := snapshot(t, path)
	s, err := openStore(storage.Options{ReadOnly: true}, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Create(context.Background(), 100, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Create: %v", err)
	}
	if err := s.Ready(); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Ready: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if string(snapshot(t, path)) != string(before) {
		t.Error("the file has changed")
	}
	if _, err := openStore(storage.Options{ReadOnly: true}, newPath(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
}
