package bbolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// check returns the report of a check of the file path.
func check(t *testing.T, path string) storage.Report {
	t.Helper()
	s, err := openTest(storage.Options{ReadOnly: true}, path)
	if corrupt := new(CorruptStoreError); errors.As(err, &corrupt) {
		return corrupt.Report
	}
	must.Do(t, err)
	report, err := s.Check(t.Context())
	must.Do(t, errors.Join(err, s.Close()))
	return report
}

// A pageMap has the page numbers of a file of newBigFile.
type pageMap struct {
	file                          []byte
	root, plants, leaf, list, end uint64 // pages: of the buckets, of the plants, the first leaf of these, of the free list
}

func (m *pageMap) page(id uint64) []byte { return m.file[int(id)*os.Getpagesize():] }

// setChild changes the first child of the branch.
func (m *pageMap) setChild(id uint64) {
	binary.NativeEndian.PutUint64(m.page(m.plants)[pageHeader+branchChild:], id)
}

func newPageMap(t *testing.T, path string) *pageMap {
	t.Helper()
	db, err := bolt.Open(path, filePerm, &bolt.Options{ReadOnly: true})
	must.Do(t, err)
	m := &pageMap{file: snapshot(t, path)}
	newest, _ := newestMeta(strings.NewReader(string(m.file)))
	m.root, m.list, m.end = newest.Root, newest.Freelist, newest.Pages
	err = db.View(func(tx *bolt.Tx) error {
		m.plants = uint64(tx.Bucket([]byte(plantsBucket)).Root())
		return nil
	})
	must.Do(t, errors.Join(err, db.Close()))
	m.leaf = binary.NativeEndian.Uint64(m.page(m.plants)[pageHeader+branchChild:])
	return m
}

// corruptFile returns a copy of a file of newBigFile, changed by corrupt.
func corruptFile(t *testing.T, original string, corrupt func(*pageMap)) (path string) {
	t.Helper()
	m := newPageMap(t, original)
	corrupt(m)
	path = newPath(t)
	must.Do(t, os.WriteFile(path, m.file, filePerm))
	return path
}

// corruptOwnFile is corruptFile for a file that a server has opened.
func corruptOwnFile(t *testing.T, original string, corrupt func(*pageMap)) (path string) {
	t.Helper()
	path = corruptFile(t, original, func(*pageMap) {})
	must.Do(t, mustOpen(t, path).Close())
	m := newPageMap(t, path)
	corrupt(m)
	must.Do(t, os.WriteFile(path, m.file, filePerm)) // the same file
	return path
}

// repeatRecord overwrites the second record of the first leaf with the first.
func repeatRecord(m *pageMap) {
	order, page := binary.NativeEndian, m.page(m.leaf)
	first := page[pageHeader+order.Uint32(page[pageHeader+leafPos:]):]
	size := order.Uint32(page[pageHeader+leafKey:]) + order.Uint32(page[pageHeader+leafValue:])
	copy(first[size:2*size], first[:size]) // the names are of one length
}

// A crafted file has a number that is wrong: in a page, at an offset of it.
type crafted struct {
	page  func(m *pageMap) uint64
	at    int
	value any              // the number, or a function that returns it
	and   func(m *pageMap) // a further change, or nil
	want  string           // in the finding of Check
}

// file returns a copy of a file of newBigFile with the wrong number.
func (c crafted) file(t *testing.T, original string) (path string) {
	t.Helper()
	return corruptFile(t, original, func(m *pageMap) {
		value := c.value
		if number, ok := value.(func(m *pageMap) uint64); ok {
			value = number(m)
		}
		if c.page != nil {
			_, err := binary.Encode(m.page(c.page(m))[c.at:], binary.NativeEndian, value)
			must.Do(t, err)
		}
		if c.and != nil {
			c.and(m)
		}
	})
}

func craftedFiles() map[string]crafted {
	const element = pageHeader // the first one of a page
	root := func(m *pageMap) uint64 { return m.root }
	plants := func(m *pageMap) uint64 { return m.plants }
	leaf := func(m *pageMap) uint64 { return m.leaf }
	list := func(m *pageMap) uint64 { return m.list }
	meta1 := func(*pageMap) uint64 { return 1 } // no checksum covers its number
	firstKey := func(m *pageMap) {
		page := m.page(m.plants)
		page[element+binary.NativeEndian.Uint32(page[element+branchPos:])] = 0xFF
	}
	secondFree := func(m *pageMap) uint64 { return binary.NativeEndian.Uint64(m.page(m.list)[pageHeader+8:]) }
	valueLen := func(m *pageMap) {
		page := m.page(m.leaf)[element:]
		binary.NativeEndian.PutUint32(page[leafValue:], binary.NativeEndian.Uint32(page[leafValue:])-1)
	}
	return map[string]crafted{
		"page number":                   {leaf, pageID, uint64(12345), nil, "its number is 12345"},
		"page type":                     {leaf, pageFlags, uint16(0x12), nil, "neither a branch nor a leaf"},
		"element count":                 {leaf, pageCount, uint16(0xFFFF), nil, "its elements"},
		"fewer elements":                {leaf, pageCount, uint16(1), nil, "its elements do not follow each other"},
		"no elements":                   {leaf, pageCount, uint16(0), nil, "it is empty"},
		"overflow far":                  {leaf, pageOverflow, uint32(1 << 31), nil, "do not fit its length"},
		"panic":                         {meta1, pageID, uint64(9), nil, "structure: assertion failed"},
		"branch to itself":              {plants, element + branchChild, plants, nil, "more pages are in use"},
		"branch to the list of buckets": {plants, element + branchChild, root, nil, "it has a nested bucket"},
		"child outside the file":        {plants, element + branchChild, uint64(1 << 63), nil, "invalid number"},
		"child is a meta page":          {plants, element + branchChild, uint64(1), nil, "invalid number"},
		"branch key outside":            {plants, element + branchPos, uint32(1 << 30), nil, "follow each other"},
		"branch key wrong":              {nil, 0, nil, firstKey, "structure: the first key"},
		"record outside":                {leaf, element + leafValue, uint32(1 << 31), nil, "follow each other"},
		"record is a bucket":            {leaf, element + leafFlags, uint32(bucketFlag), nil, "a nested bucket"},
		"record twice":                  {nil, 0, nil, repeatRecord, "structure: key[1]"},
		"key that is not an id":         {leaf, element + leafKey, uint32(keyLen + 1), valueLen, "not 8 bytes"},
		"too few pages in all":          {nil, 0, nil, func(m *pageMap) { m.setMeta(func(fields *meta) { fields.Pages++ }) }, "are in use or free"},
		"no free list":                  {list, pageFlags, uint16(leafFlag), nil, "not the list of free pages"},
		"free list too long":            {list, pageCount, uint16(0xFFF0), nil, "not the list of free pages"},
		"free list too short":           {list, pageCount, uint16(0), nil, "are in use or free"},
		"free list without end":         {list, pageCount, uint16(manyFree), func(m *pageMap) { binary.NativeEndian.PutUint64(m.page(m.list)[pageHeader:], 1<<40) }, "not the list of free pages"},
		"free list twice":               {list, pageHeader, secondFree, nil, "not the list of free pages"},
		"page in use is free":           {nil, 0, nil, freeLeaf, "structure: page"},
	}
}

// TestCraftedFiles checks that Check reports a corrupt structure, and survives it, that a restore refuses
// it, and that reads and creates end, if the file opens at all.
func TestCraftedFiles(t *testing.T) {
	t.Parallel()
	original := newBigFile(t)
	for name, test := range craftedFiles() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := test.file(t, original)
			if report := check(t, path); !strings.Contains(strings.Join(report.Corruption, "\n"), test.want) {
				t.Errorf("Check: %+v, want %q", report, test.want)
			}
			restored := newPath(t)
			if _, _, err := Restore(t.Context(), restored, path); err == nil { // a copy has other meta pages
				wantIntact(t, restored, bigFile)
			} else if !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("Restore: %v, want: %v", err, storage.ErrCorrupt)
			}
			for _, readOnly := range []bool{true, false} {
				s, err := openTest(storage.Options{ReadOnly: readOnly}, path)
				if err != nil {
					if !errors.Is(err, storage.ErrCorrupt) {
						t.Errorf("open: %v, want: %v", err, storage.ErrCorrupt)
					}
					continue
				}
				for _, err := range s.List(t.Context(), math.MinInt64) {
					if err != nil && !errors.Is(err, storage.ErrCorrupt) {
						t.Errorf("List: %v, want: %v", err, storage.ErrCorrupt)
					}
				}
				_, _ = s.Get(t.Context(), 0)
				_ = s.Create(t.Context(), -1, models.Plant{})
				_ = s.Close()
			}
		})
	}
}

// TestCheckSeesHiddenRecords checks that a key of a branch that is too large hides the records
// below it, at any depth.
func TestCheckSeesHiddenRecords(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path)
	createPlants(t, s, 0, 1000, 1500) // three levels of pages
	must.Do(t, s.Close())
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

// setMeta changes the meta pages of the file.
func (m *pageMap) setMeta(change func(*meta)) {
	for page := range 2 {
		at := page * os.Getpagesize()
		old, _ := readMeta(bytes.NewReader(m.file), int64(at))
		change(&old)
		copy(m.file[at+metaStart:], encodeMeta(old))
	}
}

// encodeMeta returns the fields of a meta page with their sum.
func encodeMeta(m meta) []byte {
	fields, _ := binary.Append(nil, binary.NativeEndian, m) // never fails
	sum := fnv.New64a()
	_, _ = sum.Write(fields[:metaLen-8])
	return binary.NativeEndian.AppendUint64(fields[:metaLen-8], sum.Sum64())
}

// freeLeaf replaces a free page by the first leaf, so that the list stays in order.
func freeLeaf(m *pageMap) {
	order, list := binary.NativeEndian, m.page(m.list)
	for i := range int(order.Uint16(list[pageCount:])) {
		if id := list[pageHeader+8*i:]; order.Uint64(id) > m.leaf || i+1 == int(order.Uint16(list[pageCount:])) {
			order.PutUint64(id, m.leaf)
			return
		}
	}
}

// TestCheckEndsWithinBounds checks that a check needs no more memory and stack than the file has
// bytes, whatever its pages claim.
//
//nolint:paralleltest // it measures memory
func TestCheckEndsWithinBounds(t *testing.T) {
	order := binary.NativeEndian
	original := newBigFile(t)
	const pages, depth = 1 << 28, 1000
	for name, test := range map[string]struct {
		corrupt func(m *pageMap)
		pages   int // of the file, which is sparse; 0: as many as it has
		want    string
	}{
		"more pages than the disk has":   {func(m *pageMap) { m.setMeta(func(fields *meta) { fields.Pages = pages }) }, pages, "are in use or free"},
		"more pages than an integer has": {func(m *pageMap) { m.setMeta(func(fields *meta) { fields.Pages = 1 << 52 }) }, 0, "has been cut short"},
		"a page over all of the file": {func(m *pageMap) {
			m.setMeta(func(fields *meta) { fields.Pages = pages })
			order.PutUint32(m.page(m.leaf)[pageOverflow:], pages/2)
		}, pages, "do not fit its length"},
		"a record over all of the file": {func(m *pageMap) {
			m.setMeta(func(fields *meta) { fields.Pages += 1 << 18 })
			page := m.page(m.leaf)
			order.PutUint16(page[pageCount:], 1)
			order.PutUint32(page[pageHeader+leafPos:], elementLen)
			order.PutUint32(page[pageHeader+leafValue:], 1<<30)
			order.PutUint32(page[pageOverflow:], 1<<18)
		}, pages, "no header of version"},
		"a key over most of the file": {func(m *pageMap) {
			const more = 1 << 13
			m.setMeta(func(fields *meta) { fields.Pages += more })
			page := m.page(m.plants)
			order.PutUint16(page[pageCount:], 1)
			order.PutUint32(page[pageHeader+branchPos:], elementLen)
			order.PutUint32(page[pageHeader+branchKey:], more*4096)
			order.PutUint32(page[pageOverflow:], more)
		}, pages, "a key that is not an id"},
		"a list of free pages over all of the file": {func(m *pageMap) {
			id := uint64(len(m.file) / os.Getpagesize())
			m.setMeta(func(fields *meta) { fields.Pages, fields.Freelist = pages, id })
			list := make([]byte, pageHeader+8)
			order.PutUint64(list, id)
			order.PutUint16(list[pageFlags:], freelistFlag)
			order.PutUint16(list[pageCount:], manyFree)
			order.PutUint32(list[pageOverflow:], pages/2)
			order.PutUint64(list[pageHeader:], pages/4*512)
			m.file = append(m.file, list...)
		}, pages, "not the list of free pages"},
		"branches below each other": {func(m *pageMap) {
			size := uint64(os.Getpagesize())
			first := uint64(len(m.file)) / size
			for id := first; id < first+depth; id++ {
				page := make([]byte, size)
				copy(page, m.page(m.plants)[:pageHeader+elementLen])
				order.PutUint64(page, id)
				order.PutUint16(page[pageCount:], 1)
				order.PutUint32(page[pageHeader+branchPos:], elementLen)
				order.PutUint64(page[pageHeader+branchChild:], id+1)
				m.file = append(m.file, page...)
			}
			m.setChild(first)
			m.setMeta(func(fields *meta) { fields.Pages = first + depth })
		}, 0, "too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			path := corruptFile(t, original, test.corrupt)
			if test.pages > 0 {
				must.Do(t, os.Truncate(path, int64(test.pages*os.Getpagesize())))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			report := check(t, path)
			runtime.ReadMemStats(&after)
			if !strings.Contains(strings.Join(report.Corruption, "\n"), test.want) || len(report.Corruption) > 10_000 {
				t.Errorf("%d findings, %.1000q, want %q", len(report.Corruption), report.Corruption, test.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
				t.Errorf("%d bytes were allocated", used)
			}
		})
	}
}

// TestCheckFindsForeignContent checks that a wrong number of plants is corruption, as is a bucket that is
// not of plantstore: its pages may be of any form, such as a million buckets in each other.
func TestCheckFindsForeignContent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(tx *bolt.Tx) error
		want   string
	}{
		"another number": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte(plantsBucket)).SetSequence(bigFile + 1)
		}, "should have 3001 plants, and has 3000"},
		"next to ours": {func(tx *bolt.Tx) error {
			_, err := tx.CreateBucket([]byte("foreign"))
			return err
		}, "list of buckets is corrupt"},
		"in the plants": {func(tx *bolt.Tx) (err error) {
			for b := tx.Bucket([]byte(plantsBucket)); b != nil && err == nil && b.Root() != 0; {
				b, err = b.CreateBucket(keyOf(-1))
			}
			return err
		}, "it has a nested bucket"},
		"in a small bucket": {func(tx *bolt.Tx) error {
			_, err := tx.Bucket([]byte(metaBucket)).CreateBucket([]byte("nested"))
			return err
		}, "list of buckets is corrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newBigFile(t)
			edit(t, path, test.change)
			if report := check(t, path); len(report.Corruption) != 1 || !strings.Contains(report.Corruption[0], test.want) {
				t.Errorf("Check: %+v, want %q", report, test.want)
			}
		})
	}
}

// A hungDisk never returns from a read.
type hungDisk chan struct{}

func (d hungDisk) ReadAt([]byte, int64) (int, error) {
	<-d
	return 0, io.EOF
}

// TestCheckOfHungDisk checks that a check ends with its context if the disk hangs, and that the store can be
// closed after that.
func TestCheckOfHungDisk(t *testing.T) {
	t.Parallel()
	disk := make(hungDisk)
	defer close(disk)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	s := must.Get(openTest(storage.Options{ReadOnly: true}, newFile(t, 3)))(t)
	if _, err := s.checkFile(ctx, disk); !errors.Is(err, context.Canceled) || s.Close() != nil {
		t.Errorf("Check: %v, want: %v", err, context.Canceled)
	}
}
