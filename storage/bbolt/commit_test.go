package bbolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// lastTxid returns the number of the last transaction in the file.
func lastTxid(t *testing.T, s *testStore) uint64 {
	t.Helper()
	m, found := newestMeta(s.file)
	if !found {
		t.Fatal("no meta page")
	}
	return m.Txid
}

// batchOf returns a batch of plants with these ids.
func batchOf(ids ...int64) []storage.Item {
	var batch []storage.Item
	for _, id := range ids {
		batch = append(batch, storage.Item{Record: storage.Record{ID: id, Plant: models.Plant{Name: strings.Repeat("x", 50)}}})
	}
	return batch
}

func TestBatchIsOneTransaction(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newFile(t, 3))
	before := lastTxid(t, s)
	batch := batchOf(-1, 0, 1, 2, 3)
	must.Do(t, s.Commit(batch))
	for _, item := range batch {
		taken := 0 <= item.ID && item.ID <= 2
		if (item.Existing != nil) != taken || item.Err != nil {
			t.Errorf("id %d: Existing = %v, Err = %v, want taken: %v", item.ID, item.Existing, item.Err, taken)
		} else if taken && item.Existing.Name != fmt.Sprint(item.ID) {
			t.Errorf("id %d: Existing = %v", item.ID, item.Existing)
		}
	}
	if after := lastTxid(t, s); after != before+1 {
		t.Errorf("the batch took %d transactions, want 1", after-before)
	}
}

func TestNoNewPlantsNoWrite(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newFile(t, 3))
	before := lastTxid(t, s)
	must.Do(t, s.Commit(batchOf(0, 1, 2)))
	if after := lastTxid(t, s); after != before {
		t.Errorf("the batch took %d transactions, want none", after-before)
	}
	if err := s.Commit(batchOf(3)); err != nil {
		t.Errorf("the next commit: %v", err)
	}
}

// TestEmptyBatchWrites checks that an empty batch writes and syncs as others do, and changes no
// plant.
func TestEmptyBatchWrites(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newFile(t, 3))
	before := lastTxid(t, s)
	must.Do(t, s.Commit(nil))
	if after := lastTxid(t, s); after != before+1 {
		t.Errorf("the batch took %d transactions, want 1", after-before)
	}
	if n, err := s.Count(t.Context()); n != 3 || err != nil {
		t.Errorf("%d plants after it, %v, want 3", n, err)
	}
	if err := s.Commit(batchOf(3)); err != nil {
		t.Errorf("the next commit: %v", err)
	}
}

// TestOneBadItem commits a batch with a plant that no engine can encode between valid ones.
func TestOneBadItem(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newPath(t))
	batch := batchOf(1, 2, 3)
	batch[1].Plant.Name = "\xff"
	must.Do(t, s.Commit(batch))
	for _, item := range batch {
		_, err := s.Get(t.Context(), item.ID)
		if bad := item.ID == 2; (item.Err != nil) != bad || (err != nil) != bad {
			t.Errorf("id %d: Err = %v, Get: %v", item.ID, item.Err, err)
		}
	}
}

// TestPagesAreFilled checks that ascending ids do not leave every page of the file half empty.
func TestPagesAreFilled(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newPath(t))
	for start := int64(0); start < 10_000; start += 500 {
		var ids []int64
		for id := range int64(500) {
			ids = append(ids, start+id)
		}
		must.Do(t, s.Commit(batchOf(ids...)))
	}
	err := s.db.View(func(tx *bolt.Tx) error {
		stats := tx.Bucket([]byte(plantsBucket)).Stats()
		if fill := float64(stats.LeafInuse) / float64(stats.LeafAlloc); fill < 0.8 {
			t.Errorf("the pages are filled to %.0f %%, want 80 %% at least", 100*fill)
		}
		return nil
	})
	must.Do(t, err)
}

// errNoSpace is the error of a write when the file system is full.
var errNoSpace error = &os.PathError{Op: "write", Path: "plants.db", Err: syscall.ENOSPC}

func TestClassify(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("input/output error")
	for name, test := range map[string]struct {
		ahead   uint64 // of the file's last transaction
		corrupt bool   // a meta page is corrupt
		cause   error
		want    error
		stopped bool
	}{
		"in no meta page":                {1, false, errDisk, errDisk, true},
		"in a meta page":                 {0, false, errDisk, storage.ErrUnknown, true},
		"a meta page is torn":            {1, true, errDisk, storage.ErrUnknown, true},
		"no space, in no meta page":      {1, false, errNoSpace, storage.ErrNoSpace, false},
		"no space, in a meta page":       {0, false, errNoSpace, storage.ErrUnknown, true},
		"no space in the words of bbolt": {1, false, errors.New("file resize error: " + errNoSpace.Error()), storage.ErrNoSpace, false},
		"no space, a meta page is torn":  {1, true, errNoSpace, storage.ErrUnknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newFile(t, 3)
			s := mustOpen(t, path)
			txid := lastTxid(t, s) + test.ahead
			if test.corrupt {
				overwrite(t, path, int64(txid%2)*s.pageSize+metaStart+40 /* Pages */, []byte{0xff})
			}
			err := s.classify(txid, test.cause)
			if !errors.Is(err, test.want) || errors.Is(err, storage.ErrUnknown) != errors.Is(test.want, storage.ErrUnknown) {
				t.Errorf("classify: %v, want: %v", err, test.want)
			}
			if stopped := s.Fault() != nil; stopped != test.stopped {
				t.Errorf("stopped: %t, want %t", stopped, test.stopped)
			}
		})
	}
}

// TestMetaPages compares the parsed meta pages with bbolt's own.
func TestMetaPages(t *testing.T) {
	t.Parallel()
	for _, pageSize := range []int{1024, 4096, 65536} {
		path := newPath(t)
		db := must.Get(bolt.Open(path, filePerm, &bolt.Options{PageSize: pageSize}))(t)
		before := snapshot(t, path)
		for i := range 4 {
			err := db.Update(func(tx *bolt.Tx) error {
				_, err := tx.CreateBucket(fmt.Append(nil, i))
				return err
			})
			must.Do(t, err)
			wantMeta(t, db, path, int64(pageSize))
		}
		must.Do(t, db.Close())
		// A newer meta page at a position where none belongs is data.
		copy(before[2*pageSize:], snapshot(t, path)[:pageSize])
		if m, found := newestMeta(bytes.NewReader(before)); !found || m.Txid != 1 {
			t.Errorf("newestMeta = %+v, %v, want the new file's", m, found)
		}
	}
}

func TestNoMetaPages(t *testing.T) {
	t.Parallel()
	for _, content := range [][]byte{nil, garbage(10), garbage(1 << 20), make([]byte, 1<<20)} {
		if m, found := newestMeta(bytes.NewReader(content)); found {
			t.Errorf("newestMeta of %d bytes of garbage = %+v", len(content), m)
		}
	}
}

// TestMetaPagesThatBboltIgnores checks that newestMeta finds the page that bbolt uses, not a newer one of
// another version or page size.
func TestMetaPagesThatBboltIgnores(t *testing.T) {
	t.Parallel()
	const size = 4096
	used := meta{Magic: metaMagic, Version: metaVersion, PageSize: size, Txid: 4}
	version, pageSize := used, used
	version.Version, version.Txid = metaVersion+1, 5
	pageSize.PageSize, pageSize.Txid = 2*size, 6
	file := make([]byte, 3*size)
	for i, m := range []meta{used, version, pageSize} {
		copy(file[i*size+metaStart:], encodeMeta(m))
	}
	if got, found := newestMeta(bytes.NewReader(file)); !found || got.Txid != used.Txid {
		t.Errorf("newestMeta = %+v, %v, want that of transaction %d", got, found, used.Txid)
	}
}

// wantMeta checks the result of newestMeta for the file of db.
func wantMeta(t *testing.T, db *bolt.DB, path string, pageSize int64) {
	t.Helper()
	got, found := newestMeta(bytes.NewReader(snapshot(t, path)))
	err := db.View(func(tx *bolt.Tx) error {
		want := got
		want.PageSize, want.Pages, want.Txid = uint32(pageSize), uint64(tx.Size()/pageSize), uint64(tx.ID())
		want.Root = uint64(tx.Cursor().Bucket().Root())
		if page, err := tx.Page(int(got.Freelist)); err != nil || page == nil || page.Type != "freelist" || !found || got != want {
			t.Errorf("newestMeta = %+v, %v, want %+v, and a page of free ones: %+v, %v", got, found, want, page, err)
		}
		return nil
	})
	must.Do(t, err)
}
