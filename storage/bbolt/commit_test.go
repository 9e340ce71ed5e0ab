package bbolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// lastTxid returns the number of the last transaction in the file.
func lastTxid(t *testing.T, s *testStore) uint64 {
	t.Helper()
	m, _ := newestMeta(s.file)
	return m.Txid
}

// badID is the id of a plant that cannot be encoded.
const badID = 666

// batchOf returns a batch of plants with these ids.
func batchOf(ids ...int64) []storage.Item {
	var batch []storage.Item
	for _, id := range ids {
		name := strings.Repeat("x", 50)
		if id == badID {
			name = "\xff"
		}
		batch = append(batch, storage.Item{Record: storage.Record{ID: id, Plant: models.Plant{Name: name}}})
	}
	return batch
}

// TestTransactions checks that a batch is one transaction, also an empty one, or none if it has no new
// plants, and that a plant that cannot be stored does not concern the others.
func TestTransactions(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newFile(t, 3))
	for _, test := range []struct {
		batch        []storage.Item
		transactions uint64
		plants       int64 // after it
	}{
		{batchOf(-1, 0, 1, 2, 3), 1, 5},
		{batchOf(0, 1, 2), 0, 5},
		{batchOf(4), 1, 6},
		{nil, 1, 6},
		{batchOf(5, badID, 6), 1, 8},
	} {
		before := lastTxid(t, s)
		must.Do(t, s.Commit(test.batch))
		if after := lastTxid(t, s); after != before+test.transactions {
			t.Errorf("%d plants took %d transactions, want %d", len(test.batch), after-before, test.transactions)
		}
		for _, item := range test.batch {
			taken := 0 <= item.ID && item.ID <= 2
			if taken != (item.Existing != nil && item.Existing.Name == fmt.Sprint(item.ID)) || (item.Err != nil) != (item.ID == badID) {
				t.Errorf("id %d: Existing = %v, Err = %v, want taken: %v", item.ID, item.Existing, item.Err, taken)
			}
		}
		if n := must.Get(s.Count(t.Context()))(t); n != test.plants || int(n) != len(records(t, s)) {
			t.Errorf("Count = %d, want %d, as many as are listed", n, test.plants)
		}
	}
}

// TestPagesAreFilled checks that ascending ids do not leave every page of the file half empty.
func TestPagesAreFilled(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newPath(t))
	for first := int64(0); first < 5000; first += 500 {
		createPlants(t, s, first, 500, 50)
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
		"a quota":                        {1, false, syscall.EDQUOT, storage.ErrNoSpace, false},
		"a limit of the size of a file":  {1, false, syscall.EFBIG, storage.ErrNoSpace, false},
		"no space in the words of bbolt": {1, false, errors.New("file resize error: " + errNoSpace.Error()), storage.ErrNoSpace, false},
		"no space, a meta page is torn":  {1, true, errNoSpace, storage.ErrUnknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newFile(t, 3)
			s := mustOpen(t, path)
			txid := lastTxid(t, s) + test.ahead
			if test.corrupt {
				overwrite(t, path, int64(txid%2)*s.pageSize+int64(metaPages.at), []byte{0xff})
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
		for i := range 4 {
			err := db.Update(func(tx *bolt.Tx) error {
				_, err := tx.CreateBucket(fmt.Append(nil, i))
				return err
			})
			must.Do(t, err)
			got, intact := newestMeta(bytes.NewReader(snapshot(t, path)))
			err = db.View(func(tx *bolt.Tx) error {
				want := got
				want.PageSize, want.Pages, want.Txid = uint32(pageSize), uint64(tx.Size())/uint64(pageSize), uint64(tx.ID())
				want.Root = uint64(tx.Cursor().Bucket().Root())
				if page, err := tx.Page(int(got.Freelist)); err != nil || page == nil || page.Type != "freelist" || intact != 2 || got != want {
					t.Errorf("newestMeta = %+v, %v, want %+v, and a page of free ones: %+v, %v", got, intact, want, page, err)
				}
				return nil
			})
			must.Do(t, err)
		}
		must.Do(t, db.Close())
	}
}

// TestMetaPagesThatBboltIgnores checks that newestMeta finds the page that bbolt uses, not a newer one of
// another version or page size, or where none belongs.
func TestMetaPagesThatBboltIgnores(t *testing.T) {
	t.Parallel()
	const size = 4096
	used := meta{Magic: metaMagic, Version: metaVersion, PageSize: size, Txid: 4}
	version, pageSize, place := used, used, used
	version.Version, version.Txid = metaVersion+1, 5
	pageSize.PageSize, pageSize.Txid = 2*size, 6
	place.Txid = 7
	file := make([]byte, 5*size)
	for page, m := range map[int]meta{0: used, 1: version, 2: pageSize, 4: place} {
		fields := file[page*size+headerLen:][:metaLen]
		must.Get(binary.Encode(fields, binary.NativeEndian, m))(t)
		seal(fields)
	}
	if got, intact := newestMeta(bytes.NewReader(file)); intact != 1 || got.Txid != used.Txid {
		t.Errorf("newestMeta = %+v, %v, want that of transaction %d alone", got, intact, used.Txid)
	}
}

// records returns the plants of a store.
func records(t *testing.T, s *testStore) (records []storage.Record) {
	t.Helper()
	for record, err := range s.List(t.Context(), math.MinInt64) {
		must.Do(t, err)
		records = append(records, record)
	}
	return records
}

// TestReset checks that a reset replaces all plants and their number in one transaction, also to
// none and in a file that must grow, and that creates work after it. A plant that cannot be stored changes
// nothing, and further resets do not let the file grow.
func TestReset(t *testing.T) {
	t.Parallel()
	path := newFile(t, 1)
	s := mustOpen(t, path)
	s.limitSize() // without free pages at its end
	size := s.db.MaxSize
	seed := slices.Repeat([]storage.Record{{Plant: models.Plant{Name: "fern"}}}, 1000)
	for i := range seed {
		seed[i].ID = int64(2*i - 500)
	}
	for _, want := range [][]storage.Record{seed, nil, seed[:1], seed} {
		before := lastTxid(t, s)
		must.Do(t, s.Reset(t.Context(), want))
		if after := lastTxid(t, s); after != before+1 {
			t.Errorf("the reset took %d transactions, want 1", after-before)
		}
		if diff := cmp.Diff(want, records(t, s)); diff != "" {
			t.Errorf("List (-want +got):\n%s", diff)
		}
		must.Do(t, s.Create(t.Context(), 1, models.Plant{Name: "moss"}))
		if n, err := s.Count(t.Context()); n != int64(len(want)+1) || err != nil {
			t.Errorf("Count = %d, %v, want %d", n, err, len(want)+1)
		}
	}
	if s.db.MaxSize == size {
		t.Error("the file did not have to grow")
	}
	before := records(t, s)
	bad := storage.Record{ID: 2, Plant: models.Plant{Name: "\xff"}}
	for _, seed := range [][]storage.Record{{bad}, {{ID: 1}, bad}} {
		if err := s.Reset(t.Context(), seed); err == nil || s.Ready() != nil || !cmp.Equal(before, records(t, s)) {
			t.Errorf("a reset to %d plants, one of them invalid: %v; ready: %v", len(seed), err, s.Ready())
		}
	}
	var sizes []int64
	for range 8 {
		must.Do(t, s.Reset(t.Context(), before))
		sizes = append(sizes, must.Get(os.Stat(path))(t).Size())
	}
	if sizes[7] != sizes[3] {
		t.Errorf("the file grows with each reset: %d", sizes)
	}
	must.Do(t, s.Close())
	wantIntact(t, path, int64(len(seed)+1))
}
