package bbolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
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

// A field is a number in a page: its offset, and its size in bytes.
type field struct{ at, size int }

// The fields of a page, of the first element of a branch, a leaf and a list of free pages, and of both
// meta pages.
var (
	pageID, pageFlags, pageCount, pageOverflow  = field{0, 8}, field{8, 2}, field{10, 2}, field{12, 4}
	branchPosition, branchKey, branchChild      = field{16, 4}, field{20, 4}, field{24, 8}
	leafFlags, leafPosition, leafKey, leafValue = field{16, 4}, field{20, 4}, field{24, 4}, field{28, 4}
	firstFree, secondFree                       = field{16, 8}, field{24, 8}
	metaPageSize, metaRoot                      = field{24, 4}, field{32, 8}
	metaFreelist, metaPages, metaNumber         = field{48, 8}, field{56, 8}, field{64, 8}
)

// A pageMap is the content of a database file, and the numbers of some of its pages: the list of buckets,
// the root of the plants, the first leaf of these, the list of free pages, and the first one after the end.
type pageMap struct {
	file                          []byte
	root, plants, leaf, list, end uint64
}

func newPageMap(t *testing.T, path string) *pageMap {
	t.Helper()
	m := &pageMap{file: snapshot(t, path)}
	newest, _ := newestMeta(bytes.NewReader(m.file))
	m.root, m.list, m.end = newest.Root, newest.Freelist, newest.Pages
	db := must.Get(bolt.Open(path, filePerm, &bolt.Options{ReadOnly: true}))(t)
	err := db.View(func(tx *bolt.Tx) error {
		m.plants = uint64(tx.Bucket([]byte(plantsBucket)).Root())
		return nil
	})
	must.Do(t, errors.Join(err, db.Close()))
	if m.plants != 0 {
		m.leaf = m.get(m.plants, branchChild)
	}
	return m
}

func (m *pageMap) page(id uint64) []byte { return m.file[int(id)*os.Getpagesize():] }

func (m *pageMap) get(page uint64, f field) uint64 {
	b := make([]byte, 8)
	copy(b, m.page(page)[f.at:f.at+f.size]) // all machines of the tests have this byte order
	return binary.LittleEndian.Uint64(b)
}

// A number is written to a field of a page.
type number struct {
	page uint64
	field
	value uint64
}

// write returns a copy of the file with these numbers, and the right sums of its meta pages.
func (m *pageMap) write(numbers ...number) *pageMap {
	changed := *m
	changed.file = slices.Clone(m.file)
	for _, n := range numbers {
		copy(changed.page(n.page)[n.at:n.at+n.size], binary.LittleEndian.AppendUint64(nil, n.value))
	}
	for page := range uint64(2) {
		seal(changed.page(page)[headerLen:][:metaLen])
	}
	return &changed
}

// seal sets the sum of the fields of a meta page.
func seal(fields []byte) {
	sum := fnv.New64a()
	_, _ = sum.Write(fields[:metaLen-8])
	binary.NativeEndian.PutUint64(fields[metaLen-8:], sum.Sum64())
}

// save writes the file to a new path.
func (m *pageMap) save(t *testing.T) (path string) {
	t.Helper()
	return written(t, m.file)
}

// inMetas returns a number for both meta pages.
func inMetas(f field, value uint64) []number { return []number{{0, f, value}, {1, f, value}} }

// repeatRecord overwrites the second record of the first leaf with the first.
func (m *pageMap) repeatRecord() *pageMap {
	changed := m.write()
	first := changed.page(m.leaf)[headerLen+m.get(m.leaf, leafPosition):]
	size := m.get(m.leaf, leafKey) + m.get(m.leaf, leafValue)
	copy(first[size:2*size], first[:size]) // the names are of one length
	return changed
}

// freeLeaf returns the number that replaces a free page by the first leaf, so that the list stays in order.
func (m *pageMap) freeLeaf() number {
	f, last := firstFree, firstFree.at+8*int(m.get(m.list, pageCount)-1)
	for m.get(m.list, f) < m.leaf && f.at < last {
		f.at += f.size
	}
	return number{m.list, f, m.leaf}
}

// A crafted file is one that no server has written.
type crafted struct {
	*pageMap

	want string // in the findings of Check
}

// craftedFiles returns variants of a file of newBigFile: with wrong numbers, and changed by bbolt.
func craftedFiles(t *testing.T, m *pageMap) map[string]crafted {
	t.Helper()
	firstKey := field{headerLen + int(m.get(m.plants, branchPosition)), 1}
	files := map[string]crafted{
		"panic":                               {m.write(number{1, pageID, 9}), "structure: assertion failed"}, // no checksum covers it
		"key that is not an id":               {m.write(number{m.leaf, leafKey, keyLen + 1}, number{m.leaf, leafValue, m.get(m.leaf, leafValue) - 1}), "not 8 bytes"},
		"record twice":                        {m.repeatRecord(), "structure: key[1]"},
		"too few pages in all":                {m.write(inMetas(metaPages, m.end+1)...), "are in use or free"},
		"another tree in the first meta page": {m.write(append(inMetas(metaNumber, 8), number{0, metaRoot, m.leaf})...), "list of buckets is corrupt"},
		"another page size in the newer meta page": {
			m.write(number{1, metaNumber, m.get(0, metaNumber) + 9}, number{1, metaRoot, m.leaf}, number{1, metaPageSize, 2 * uint64(os.Getpagesize())}),
			"another meta page than was checked",
		},
		"free list without end": {m.write(number{m.list, pageCount, manyFree}, number{m.list, firstFree, 1 << 40}), "not the list of free pages"},
		"page in use is free":   {m.write(m.freeLeaf()), "structure: page"},
	}
	for name, test := range map[string]struct {
		change func(tx *bolt.Tx) error
		want   string
	}{
		"another number of plants": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte(plantsBucket)).SetSequence(bigFile + 1)
		}, "should have 3001 plants, and has 3000"},
		"bucket next to ours": {func(tx *bolt.Tx) error {
			_, err := tx.CreateBucket([]byte("zone"))
			return err
		}, "list of buckets is corrupt"},
		"bucket in the plants": {func(tx *bolt.Tx) error {
			_, err := tx.Bucket([]byte(plantsBucket)).CreateBucket(keyOf(-1))
			return err
		}, "it has a nested bucket"},
		"bucket in a small one": {func(tx *bolt.Tx) error {
			_, err := tx.Bucket([]byte(metaBucket)).CreateBucket([]byte("nested"))
			return err
		}, "list of buckets is corrupt"},
	} {
		path := m.save(t)
		edit(t, path, test.change)
		files[name] = crafted{&pageMap{file: snapshot(t, path)}, test.want}
	}
	for name, test := range map[string]struct {
		number
		want string
	}{
		"page number":                   {number{m.leaf, pageID, 12345}, "its number is 12345"},
		"page type":                     {number{m.leaf, pageFlags, 0x12}, "neither a branch nor a leaf"},
		"element count":                 {number{m.leaf, pageCount, 0xFFFF}, "its elements"},
		"fewer elements":                {number{m.leaf, pageCount, 1}, "its elements do not follow each other"},
		"no elements":                   {number{m.leaf, pageCount, 0}, "it is empty"},
		"overflow far":                  {number{m.leaf, pageOverflow, 1 << 31}, "do not fit its length"},
		"branch to itself":              {number{m.plants, branchChild, m.plants}, "more pages are in use"},
		"branch to the list of buckets": {number{m.plants, branchChild, m.root}, "it has a nested bucket"},
		"child outside the file":        {number{m.plants, branchChild, 1 << 63}, "invalid number"},
		"child is a meta page":          {number{m.plants, branchChild, 1}, "invalid number"},
		"branch key outside":            {number{m.plants, branchPosition, 1 << 30}, "follow each other"},
		"branch key wrong":              {number{m.plants, firstKey, 0xFF}, "structure: the first key"},
		"record outside":                {number{m.leaf, leafValue, 1 << 31}, "follow each other"},
		"record is a bucket":            {number{m.leaf, leafFlags, bucketFlag}, "a nested bucket"},
		"no free list":                  {number{m.list, pageFlags, leafFlag}, "not the list of free pages"},
		"free list too long":            {number{m.list, pageCount, 0xFFF0}, "not the list of free pages"},
		"free list too short":           {number{m.list, pageCount, 0}, "are in use or free"},
		"free list twice":               {number{m.list, firstFree, m.get(m.list, secondFree)}, "not the list of free pages"},
	} {
		files[name] = crafted{m.write(test.number), test.want}
	}
	return files
}

// TestCraftedFiles checks that Check reports a corrupt structure, and survives it, that a restore refuses
// it, and that reads and creates end, if the file opens at all.
func TestCraftedFiles(t *testing.T) {
	t.Parallel()
	for name, test := range craftedFiles(t, newPageMap(t, newBigFile(t))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := test.save(t)
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

// TestCheckEndsWithinBounds checks that a check needs no more memory and stack than the file has
// bytes, whatever its pages claim.
//
//nolint:paralleltest // it measures memory
func TestCheckEndsWithinBounds(t *testing.T) {
	const pages, depth = 1 << 28, 1000
	m, size := newPageMap(t, newBigFile(t)), uint64(os.Getpagesize())
	after := uint64(len(m.file)) / size // the first page after the file
	longer := &pageMap{file: slices.Concat(m.file, make([]byte, depth*size))}
	list := append(inMetas(metaPages, pages), inMetas(metaFreelist, after)...)
	list = append(list, number{after, pageID, after}, number{after, pageFlags, freelistFlag}, number{after, pageCount, manyFree},
		number{after, pageOverflow, pages / 2}, number{after, firstFree, pages / 4 * 512})
	branches := append(inMetas(metaPages, after+depth), number{m.plants, branchChild, after})
	for id := after; id < after+depth; id++ {
		branches = append(branches, number{id, pageID, id}, number{id, pageFlags, branchFlag}, number{id, pageCount, 1},
			number{id, branchPosition, elementLen}, number{id, branchKey, keyLen}, number{id, branchChild, id + 1})
	}
	for name, test := range map[string]struct {
		crafted
		pages int64 // of the file, which is sparse; 0: as many as it has
	}{
		"more pages than the disk has":              {crafted{m.write(inMetas(metaPages, pages)...), "are in use or free"}, pages},
		"more pages than an integer has":            {crafted{m.write(inMetas(metaPages, 1<<52)...), "has been cut short"}, 0},
		"a page over all of the file":               {crafted{m.write(append(inMetas(metaPages, pages), number{m.leaf, pageOverflow, pages / 2})...), "do not fit its length"}, pages},
		"a list of free pages over all of the file": {crafted{longer.write(list...), "not the list of free pages"}, pages},
		"branches below each other":                 {crafted{longer.write(branches...), "too deep"}, 0},
		"a record over all of the file": {crafted{m.write(append(inMetas(metaPages, m.end+1<<18), number{m.leaf, pageCount, 1},
			number{m.leaf, leafPosition, elementLen}, number{m.leaf, leafValue, 1 << 30}, number{m.leaf, pageOverflow, 1 << 18})...), "no header of version"}, pages},
		"a key over most of the file": {crafted{m.write(append(inMetas(metaPages, m.end+1<<13), number{m.plants, pageCount, 1},
			number{m.plants, branchPosition, elementLen}, number{m.plants, branchKey, size << 13}, number{m.plants, pageOverflow, 1 << 13})...), "a key that is not an id"}, pages},
	} {
		t.Run(name, func(t *testing.T) {
			path := test.save(t)
			if test.pages > 0 {
				must.Do(t, os.Truncate(path, test.pages*int64(size)))
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

// A hanging context ends as soon as a check uses it, and lets that hang, as a disk may.
type hanging struct {
	context.Context //nolint:containedctx // it is one
	done, release   chan struct{}
	calls           atomic.Int32
}

func (h *hanging) Done() <-chan struct{} { return h.done }

func (h *hanging) Err() error {
	if h.calls.Add(1) == 1 {
		close(h.done)
		<-h.release
	}
	return context.Canceled
}

// TestCheckThatHangs checks that a check ends with its context if the disk hangs, and that the store can be
// closed after that.
func TestCheckThatHangs(t *testing.T) {
	t.Parallel()
	ctx := &hanging{Context: t.Context(), done: make(chan struct{}), release: make(chan struct{})}
	defer close(ctx.release)
	s := must.Get(openTest(storage.Options{ReadOnly: true}, newFile(t, 3)))(t)
	if _, err := s.Check(ctx); !errors.Is(err, context.Canceled) || s.Close() != nil {
		t.Errorf("Check: %v, want: %v", err, context.Canceled)
	}
}
