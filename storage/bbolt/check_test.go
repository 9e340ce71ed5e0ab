package bbolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/models"
	"plantstore/storage"
)

// check returns the report of a check of the file path.
func check(t *testing.T, path string) storage.Report {
	t.Helper()
	s, err := openStore(storage.Options{ReadOnly: true, AllowCorrupt: true}, path)
	if err != nil {
		t.Fatalf("OpenReadOnly: %v", err)
	}
	report, err := s.Check(t.Context(), nil)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatalf("Check: %v", err)
	}
	return report
}

// A pageMap has the page numbers of a file of newBigFile.
type pageMap struct {
	file                          []byte
	root, plants, leaf, list, end uint64 // pages: of the buckets, of the plants, the first leaf of these, of the free list
}

func (m *pageMap) page(id uint64) []byte { return m.file[int(id)*os.Getpagesize():] } //nolint:gosec // a small number

func newPageMap(t *testing.T, path string) *pageMap {
	t.Helper()
	db, err := bolt.Open(path, filePerm, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	m := &pageMap{file: snapshot(t, path)}
	newest, _ := newestMeta(strings.NewReader(string(m.file)))
	m.root, m.list, m.end = newest.Root, newest.Freelist, newest.Pages
	err = db.View(func(tx *bolt.Tx) error {
		m.plants = uint64(tx.Bucket([]byte(plantsBucket)).Root())
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	m.leaf = binary.NativeEndian.Uint64(m.page(m.plants)[pageHeader+branchChild:])
	return m
}

// corruptFile returns a copy of a file of newBigFile, changed by corrupt.
func corruptFile(t *testing.T, original string, corrupt func(*pageMap)) (path string) {
	t.Helper()
	m := newPageMap(t, original)
	corrupt(m)
	path = newPath(t)
	if err := os.WriteFile(path, m.file, filePerm); err != nil {
		t.Fatal(err)
	}
	return path
}

// repeatRecord overwrites the second record of the first leaf with the first.
func repeatRecord(m *pageMap) {
	order, page := binary.NativeEndian, m.page(m.leaf)
	first := page[pageHeader+order.Uint32(page[pageHeader+leafPos:]):]
	size := order.Uint32(page[pageHeader+leafKey:]) + order.Uint32(page[pageHeader+leafValue:])
	copy(first[size:2*size], first[:size]) // the names are of one length
}

// TestCheckFindsCorruptStructure checks that Check reports a corrupt structure, and survives
// it.
func TestCheckFindsCorruptStructure(t *testing.T) {
	t.Parallel()
	order := binary.NativeEndian
	original := newBigFile(t)
	for name, test := range map[string]struct {
		corrupt func(m *pageMap)
		want    string
	}{
		"page id":        {func(m *pageMap) { order.PutUint64(m.page(m.leaf), 12345) }, "its number is 12345"},
		"page type":      {func(m *pageMap) { order.PutUint16(m.page(m.leaf)[pageFlags:], 0x12) }, "neither a branch nor a leaf"},
		"element count":  {func(m *pageMap) { order.PutUint16(m.page(m.leaf)[pageCount:], 0xFFFF) }, "more elements than fit"},
		"fewer elements": {func(m *pageMap) { m.page(m.leaf)[pageCount] ^= 1 << 3 }, "its elements do not follow each other"},
		"no elements":    {func(m *pageMap) { order.PutUint16(m.page(m.leaf)[pageCount:], 0) }, "it is empty"},
		"fewer branches": {func(m *pageMap) { m.page(m.plants)[pageCount]-- }, "its elements do not follow each other"},
		"branch count":   {func(m *pageMap) { order.PutUint16(m.page(m.plants)[pageCount:], 0xFFFF) }, "more elements than fit"},
		"overflow far":   {func(m *pageMap) { order.PutUint32(m.page(m.leaf)[pageOverflow:], 1<<31) }, "it is in use"},
		"overflow out":   {func(m *pageMap) { order.PutUint32(m.page(m.end - 1)[pageOverflow:], 1) }, "invalid number"},
		"loop": {func(m *pageMap) {
			order.PutUint64(m.page(m.plants)[pageHeader+branchChild:], m.plants)
		}, "both in use and free"},
		"child outside the file": {func(m *pageMap) {
			order.PutUint64(m.page(m.plants)[pageHeader+branchChild:], 1<<63)
		}, "invalid number"},
		"child is a meta page": {func(m *pageMap) {
			order.PutUint64(m.page(m.plants)[pageHeader+branchChild:], 1)
		}, "invalid number"},
		"branch key outside": {func(m *pageMap) {
			order.PutUint32(m.page(m.plants)[pageHeader+branchPos:], 1<<30)
		}, "its elements do not follow each other"},
		"branch key wrong": {func(m *pageMap) {
			page := m.page(m.plants)
			page[pageHeader+order.Uint32(page[pageHeader+branchPos:])] = 0xFF
		}, "structure: the first key"},
		"second branch key wrong": {func(m *pageMap) {
			page := m.page(m.plants)
			page[pageHeader+elementLen+order.Uint32(page[pageHeader+elementLen+branchPos:])] = 0
		}, "structure: key[1]"},
		"record outside": {func(m *pageMap) {
			order.PutUint32(m.page(m.leaf)[pageHeader+leafValue:], 1<<31)
		}, "its elements do not follow each other"},
		"record is a bucket": {func(m *pageMap) {
			order.PutUint32(m.page(m.leaf)[pageHeader+leafFlags:], bucketFlag)
		}, "marked as a bucket"},
		"record twice":        {repeatRecord, "structure: key[1]"},
		"no free list":        {func(m *pageMap) { order.PutUint16(m.page(m.list)[pageFlags:], leafFlag) }, "not the list of free pages"},
		"free list too long":  {func(m *pageMap) { order.PutUint16(m.page(m.list)[pageCount:], 0xFFF0) }, "not the list of free pages"},
		"free list too short": {func(m *pageMap) { order.PutUint16(m.page(m.list)[pageCount:], 0) }, "unreachable unfreed"},
		"page in use is free": {func(m *pageMap) { order.PutUint64(m.page(m.list)[pageHeader:], m.leaf) }, "listed as free"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if report := check(t, corruptFile(t, original, test.corrupt)); !strings.Contains(strings.Join(report.Corruption, "\n"), test.want) {
				t.Errorf("Check: %+v, want %q", report, test.want)
			}
		})
	}
}

// TestCheckPassesIntactRecords checks that Check passes all intact records, wherever the
// corruption is. bigFile plants have more than one leaf page, and each page has more than one
// plant.
func TestCheckPassesIntactRecords(t *testing.T) {
	t.Parallel()
	order := binary.NativeEndian
	original := newBigFile(t)
	for name, test := range map[string]struct {
		corrupt func(m *pageMap)
		lost    int // plants
	}{
		"intact": {func(*pageMap) {}, 0},
		"record": {func(m *pageMap) {
			page := m.page(m.leaf)
			page[pageHeader+order.Uint32(page[pageHeader+leafPos:])+keyLen+headerLen] ^= 1
		}, 1},
		"element": {func(m *pageMap) { order.PutUint32(m.page(m.leaf)[pageHeader+leafValue:], 1<<31) }, 1},
		"leaf": {
			func(m *pageMap) { clear(m.page(m.leaf)[:os.Getpagesize()]) },
			int(order.Uint16(newPageMap(t, original).page(newPageMap(t, original).leaf)[pageCount:])),
		},
		"branch": {func(m *pageMap) { clear(m.page(m.plants)[:os.Getpagesize()]) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := openStore(storage.Options{ReadOnly: true}, corruptFile(t, original, test.corrupt))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			seen := make(map[int64]bool)
			report, err := s.Check(t.Context(), func(r storage.Record) error {
				seen[r.ID] = true
				return nil
			})
			if err != nil || report.Intact() != (name == "intact") || len(seen) != bigFile-test.lost || report.Plants != int64(len(seen)) {
				t.Errorf("%d plants were shown of %d; %+v, %v", len(seen), bigFile-test.lost, report, err)
			}
			full := errors.New("full")
			if report, err := s.Check(t.Context(), func(storage.Record) error { return full }); !errors.Is(err, full) || report.Plants != 1 {
				t.Errorf("after an error of the caller: %+v, %v", report, err)
			}
		})
	}
}

// TestCheckWordsPanicsAsFindings checks that a panic of bbolt's check becomes a finding,
// without the word panic.
func TestCheckWordsPanicsAsFindings(t *testing.T) {
	t.Parallel()
	path := newFile(t, 3)
	overwrite(t, path, int64(os.Getpagesize()), []byte{9}) // the number of a meta page, which no checksum covers
	report := check(t, path)
	if len(report.Corruption) != 1 || !strings.HasPrefix(report.Corruption[0], "structure: assertion failed") {
		t.Errorf("Check: %+v", report)
	}
}

// TestCheckFindsCorruptInlineBucket checks that corruption of an inline bucket is found: small
// buckets are inline and have no pages.
func TestCheckFindsCorruptInlineBucket(t *testing.T) {
	t.Parallel()
	path := newFile(t, 3)
	m := newPageMap(t, path)
	root := m.page(m.root)
	for name, test := range map[string]struct {
		corrupt func(element []byte)
		want    string
	}{
		"no bucket": {func(e []byte) { binary.NativeEndian.PutUint32(e[leafFlags:], 0) }, "it is not a bucket"},
		"no leaf": {func(e []byte) {
			value := e[binary.NativeEndian.Uint32(e[leafPos:])+binary.NativeEndian.Uint32(e[leafKey:]):]
			value[bucketHeader+pageFlags] = branchFlag
		}, "its inline page is not a leaf"},
		"less plants": {func(e []byte) {
			value := e[binary.NativeEndian.Uint32(e[leafPos:])+binary.NativeEndian.Uint32(e[leafKey:]):]
			value[bucketHeader+pageCount] = 0
		}, "another length than its elements"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := slices.Clone(root[:os.Getpagesize()])
			test.corrupt(file[pageHeader+elementLen:]) // of plants, after meta
			report := storage.Report{}
			f := &fsck{ended: t.Context().Err, report: &report, each: func(storage.Record) error { return nil }}
			elements, _ := f.elements("root", file)
			for _, e := range elements {
				f.root(e)
			}
			if !strings.Contains(strings.Join(report.Corruption, "\n"), test.want) {
				t.Errorf("findings %q, want %q", report.Corruption, test.want)
			}
		})
	}
}

// TestCheckFindsCutBucket checks that a bucket in another one is found if it is shorter than
// the header of a bucket.
func TestCheckFindsCutBucket(t *testing.T) {
	t.Parallel()
	report := storage.Report{}
	f := &fsck{report: &report}
	f.nested(element{key: []byte("cut"), value: make([]byte, bucketHeader-1), bucket: true})
	if want := []string{`bucket "cut": it is not a bucket`}; !slices.Equal(report.Corruption, want) {
		t.Errorf("findings %q, want %q", report.Corruption, want)
	}
}

// TestCheckDuringCreates checks that a file that is being written to is intact at any time.
func TestCheckDuringCreates(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newBigFile(t))
	var writers sync.WaitGroup
	ctx := t.Context()
	var stop atomic.Bool
	for w := range int64(4) {
		writers.Go(func() {
			for id := int64(bigFile) + w; !stop.Load(); id += 4 {
				if err := s.Create(ctx, id, models.Plant{Name: "fern"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		report, err := s.Check(t.Context(), nil)
		if err != nil && !errors.Is(err, errMoved) || !report.Intact() || err == nil && report.Plants < bigFile {
			t.Errorf("Check: %+v, %v", report, err)
		}
	}
	stop.Store(true)
	writers.Wait()
}

func TestCheckEndsWithContext(t *testing.T) {
	t.Parallel()
	s, err := openStore(storage.Options{ReadOnly: true}, newBigFile(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Check(ctx, nil)
	if !errors.Is(err, context.Canceled) || s.Close() != nil {
		t.Errorf("Check: %v", err)
	}
}

// TestOpenCorruptRoot checks that a file that bbolt panics over is refused and closed.
func TestOpenCorruptRoot(t *testing.T) {
	t.Parallel()
	path := newFile(t, 3)
	m := newPageMap(t, path)
	for _, flags := range []byte{0, leafFlag} {
		m.page(m.root)[pageFlags] = flags
		if err := os.WriteFile(path, m.file, filePerm); err != nil {
			t.Fatal(err)
		}
		if flags == leafFlag {
			mustOpen(t, path)
		} else if _, err := openStore(storage.Options{}, path); err == nil || !strings.Contains(err.Error(), "is corrupt") {
			t.Errorf("Open: %v", err)
		}
	}
}

// TestCheckForeignHabits checks that valid changes of other programs to a bbolt file are not
// reported as corruption.
func TestCheckForeignHabits(t *testing.T) {
	t.Parallel()
	path := newBigFile(t)
	db, err := bolt.Open(path, filePerm, &bolt.Options{NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		outer, err := tx.CreateBucket([]byte("foreign"))
		if err != nil {
			return err
		}
		inner, err := outer.CreateBucket([]byte(plantsBucket))
		for i := 0; err == nil && i < 2000; i++ {
			err = inner.Put(fmt.Appendf(nil, "key %d", i), []byte("no plant"))
		}
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if report := check(t, path); !report.Intact() || report.Plants != bigFile {
		t.Errorf("without a list of free pages: %+v", report)
	}
	if err := mustOpen(t, path).Close(); err != nil { // writes the list
		t.Fatal(err)
	}
	if report := check(t, path); !report.Intact() || report.Plants != bigFile {
		t.Errorf("with one: %+v", report)
	}
}

// TestCheckSeesHiddenRecords checks that a key of a branch that is too large hides the records
// below it, at any depth.
func TestCheckSeesHiddenRecords(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	e := mustOpen(t, path)
	batch := make([]storage.Item, batchPlants)
	for start := range int64(4) { // three levels of pages
		for i := range batch {
			batch[i] = storage.Item{Record: storage.Record{ID: start*batchPlants + int64(i)}}
		}
		if err := e.Commit(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	order := binary.NativeEndian
	hide := corruptFile(t, path, func(m *pageMap) {
		if flags := order.Uint16(m.page(m.leaf)[pageFlags:]); flags != branchFlag {
			t.Fatalf("the page below the root has flags %x, want a branch", flags)
		}
		second := m.page(m.plants)[pageHeader+elementLen:]
		second[order.Uint32(second[branchPos:])+keyLen-1]++
	})
	if report := check(t, hide); len(report.Corruption) == 0 || !strings.Contains(report.Corruption[0], "structure: the first key") {
		t.Errorf("Check: %+v", report)
	}
}
