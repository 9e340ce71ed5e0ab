package bbolt

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/bits"
)

const (
	metaStart = 16 // offset of the fields in a meta page, after the page's header
	metaLen   = 64 // of the fields
	metaMagic = 0xED0CDAED

	metaVersion = 2

	maxPageSize = 16 << 20 // of bbolt; it uses the page size of the system, at least 4 KiB
)

// A meta is the fields of a meta page, in the byte order of the machine. A bbolt file
// begins with two meta pages. Transaction n writes page n%2 last, and does not change the
// page of transaction n-1.
type meta struct {
	Magic, Version, PageSize, Flags uint32

	Root, Sequence uint64 // the bucket of buckets: its root page, and a number without use
	Freelist       uint64 // the page with the list of free pages
	Pages          uint64 // of the file that are in use, or have been
	Txid           uint64
	Sum            uint64 // FNV-1a of the fields before it
}

// readMeta reads the meta page that begins at offset. It reports false if there is none,
// or a corrupt one.
func readMeta(file io.ReaderAt, offset int64) (m meta, ok bool) {
	b := make([]byte, metaLen)
	if _, err := file.ReadAt(b, offset+metaStart); err != nil {
		return meta{}, false
	}
	_, _ = binary.Decode(b, binary.NativeEndian, &m) // their size is fixed
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaLen-sum.Size()])
	return m, m.Magic == metaMagic && m.Version == metaVersion && m.Sum == sum.Sum64() && m.PageSize > 0 && m.PageSize <= maxPageSize
}

// newestMeta returns the newest intact meta page. It reports false if file is not a bbolt
// file, or both are corrupt.
func newestMeta(file io.ReaderAt) (newest meta, found bool) {
	// The second page follows the first, which may be unreadable and of any size: bbolt
	// allows powers of two.
	for offset := int64(0); offset <= maxPageSize; offset = max(1024, 2*offset) {
		m, ok := readMeta(file, offset)
		if ok && (offset == 0 || offset == int64(m.PageSize)) && (!found || m.PageSize == newest.PageSize && m.Txid > newest.Txid) {
			newest, found = m, true
		}
	}
	return newest, found
}

// otherByteOrder reports whether file is a bbolt file of a machine with the other byte order.
func otherByteOrder(file io.ReaderAt) bool {
	b := make([]byte, metaStart+4)
	_, err := file.ReadAt(b, 0)
	return err == nil && bits.ReverseBytes32(binary.NativeEndian.Uint32(b[metaStart:])) == metaMagic
}

// bothMetas reports whether both meta pages of a file are intact, of which newest is one.
func bothMetas(file io.ReaderAt, newest meta) bool {
	_, first := readMeta(file, 0)
	_, second := readMeta(file, int64(newest.PageSize))
	return first && second
}

// A page has a header, elements of 16 bytes, and the keys and values that these point to, without
// gaps. The constants are offsets in bytes.
const (
	pageID       = 0  // uint64
	pageFlags    = 8  // uint16
	pageCount    = 10 // uint16: of elements
	pageOverflow = 12 // uint32: pages after this one that belong to it
	pageHeader   = 16

	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10

	elementLen = 16

	branchPos   = 0 // uint32: of the key, from the element on
	branchKey   = 4 // uint32: length
	branchChild = 8 // uint64

	leafFlags = 0  // uint32: bucketFlag, or 0
	leafPos   = 4  // uint32: of the key, from the element on; the value follows
	leafKey   = 8  // uint32: length
	leafValue = 12 // uint32: length

	bucketFlag   = 0x01
	bucketHeader = 16 // uint64 root page and uint64 sequence; if the root is 0, a page follows: it is inline

	manyFree  = 0xFFFF // as a count: the true one is the first element
	firstPage = 2      // after the meta pages
	maxDepth  = 64     // of a tree; bbolt's branches have at least two children
)

// A page is the header of a page and its elements. Positions are relative to its beginning.
type page struct {
	id       uint64
	leaf     bool // else it is a branch
	overflow uint64
	elements []element
	end      int64 // of the last element
	buckets  int   // elements that are one
}

// An element is a key and a value of a leaf, or a key and a child of a branch.
type element struct {
	start, value, end int64  // of the key, of the value, and after it
	child             uint64 // of a branch
}

// readPage reads the page that begins at offset, without its keys and values.
func readPage(file io.ReaderAt, offset int64) (p page, err error) {
	order, b := binary.NativeEndian, make([]byte, pageHeader)
	if _, err := file.ReadAt(b, offset); err != nil {
		return page{}, err
	}
	flags := order.Uint16(b[pageFlags:])
	if flags != branchFlag && flags != leafFlag {
		return page{}, fmt.Errorf("it is neither a branch nor a leaf, but of type %#x", flags)
	}
	p.id, p.leaf, p.overflow = order.Uint64(b[pageID:]), flags == leafFlag, uint64(order.Uint32(b[pageOverflow:]))
	p.elements = make([]element, order.Uint16(b[pageCount:]))
	b = make([]byte, len(p.elements)*elementLen)
	if _, err := file.ReadAt(b, offset+pageHeader); err != nil && len(b) > 0 {
		return p, fmt.Errorf("its elements: %w", err)
	}
	p.end = pageHeader + int64(len(b))
	for i := range p.elements {
		e, b, at := &p.elements[i], b[i*elementLen:], pageHeader+int64(i)*elementLen
		pos, keySize, valueSize := order.Uint32(b[branchPos:]), order.Uint32(b[branchKey:]), uint32(0)
		if p.leaf {
			pos, keySize, valueSize = order.Uint32(b[leafPos:]), order.Uint32(b[leafKey:]), order.Uint32(b[leafValue:])
			p.buckets += int(order.Uint32(b[leafFlags:]) & bucketFlag)
		} else {
			e.child = order.Uint64(b[branchChild:])
		}
		e.start = at + int64(pos)
		e.value = e.start + int64(keySize)
		e.end = e.value + int64(valueSize)
		if e.start != p.end || e.end-at > math.MaxInt32 { // of a slice in bbolt
			return p, errors.New("its elements do not follow each other")
		}
		p.end = e.end
	}
	return p, nil
}

// A pageCheck reads the pages of a closed database, the file and not bbolt's mapping of it. It
// compares each number with its bounds before using it, and visits no more than maxDepth levels and
// the number of pages in the file: it ends on any file, with memory for a page of each level. bbolt,
// which follows numbers without validating them, is safe on a file that passes.
type pageCheck struct {
	file io.ReaderAt
	meta meta
	step func() error // called for each page; its error ends the check
	used uint64       // pages
}

// newPageCheck returns a pageCheck of the newest state in file.
func newPageCheck(file io.ReaderAt, step func() error) *pageCheck {
	newest, _ := newestMeta(file) // there is one, or the file would not be open
	return &pageCheck{file: file, meta: newest, step: step}
}

func (c *pageCheck) all() error {
	plants, err := c.buckets()
	if err == nil && plants != 0 {
		err = c.tree(plants, 1)
	}
	if err != nil {
		return err
	}
	free, err := c.freelist()
	if known := firstPage + c.used + free; err == nil && known != c.meta.Pages {
		err = fmt.Errorf("the file should have %d pages, and %d are in use or free", c.meta.Pages, known)
	}
	return err
}

func (c *pageCheck) page(id uint64) (p page, err error) {
	if err := c.step(); err != nil {
		return page{}, err
	}
	if id < firstPage || id >= c.meta.Pages {
		return page{}, fmt.Errorf("page %d: invalid number, the file has %d pages", id, c.meta.Pages)
	}
	p, err = readPage(c.file, c.offset(id))
	last := c.offset(p.overflow)
	c.used += 1 + p.overflow
	switch {
	case err != nil:
	case p.id != id:
		err = fmt.Errorf("its number is %d", p.id)
	case p.overflow >= c.meta.Pages-id || p.end < last || p.end > last+int64(c.meta.PageSize):
		err = fmt.Errorf("its elements do not fit its length, of %d pages", 1+p.overflow)
	case c.used > c.meta.Pages:
		err = errors.New("more pages are in use than the file has")
	default:
		return p, nil
	}
	return p, fmt.Errorf("page %d: %w", id, err)
}

func (c *pageCheck) offset(id uint64) int64 { return int64(id) * int64(c.meta.PageSize) }

// buckets checks that there are two buckets, in a leaf, and the content of those that are inline,
// as meta is. Each commit rewrites these without checking them: a wrong length would become
// gigabytes. It returns the root page of the plants, 0 if they are inline.
func (c *pageCheck) buckets() (plants uint64, err error) {
	wrong := corrupt("is a bbolt database, but not of a plant store, or its list of buckets is corrupt")
	p, err := c.page(c.meta.Root)
	if err != nil {
		return 0, err
	}
	if !p.leaf || p.overflow > 0 || len(p.elements) != 2 || p.buckets != 2 {
		return 0, wrong
	}
	b := make([]byte, p.end)
	if _, err := c.file.ReadAt(b, c.offset(p.id)); err != nil {
		return 0, fmt.Errorf("page %d: %w", p.id, err)
	}
	for i, name := range []string{metaBucket, plantsBucket} { // in the order of their keys
		e := p.elements[i]
		value := b[e.value:e.end]
		if string(b[e.start:e.value]) != name || len(value) < bucketHeader {
			return 0, wrong
		}
		root, content := binary.NativeEndian.Uint64(value), value[bucketHeader:]
		if root != 0 && name == plantsBucket {
			return root, nil
		}
		inline, err := readPage(bytes.NewReader(content), 0)
		if root != 0 || err != nil || !inline.leaf || inline.buckets > 0 || inline.end != int64(len(content)) {
			return 0, wrong
		}
	}
	return 0, nil
}

// tree checks the pages of the plants below page id, at that depth.
func (c *pageCheck) tree(id uint64, depth int) error {
	p, err := c.page(id)
	switch {
	case err != nil:
		return err
	case p.buckets > 0:
		return fmt.Errorf("page %d: it has a nested bucket", id)
	case len(p.elements) == 0:
		return fmt.Errorf("page %d: it is empty", id)
	case depth > maxDepth:
		return fmt.Errorf("page %d: it is too deep in the tree", id)
	case p.leaf:
		return nil
	}
	for _, e := range p.elements {
		if e.value-e.start != keyLen { // bbolt's check prints it
			return fmt.Errorf("page %d: it has a key that is not an id", id)
		}
		if err := c.tree(e.child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// freelist checks that the free pages are in order, and returns their number with those of the list
// itself. all compares it: bbolt's check would need memory for each page that is neither in use nor free.
func (c *pageCheck) freelist() (pages uint64, err error) {
	id, order, b := c.meta.Freelist, binary.NativeEndian, make([]byte, pageHeader)
	wrong := fmt.Errorf("page %d: it is not the list of free pages that it should be", id)
	if id < firstPage || id >= c.meta.Pages {
		return 0, wrong
	}
	if _, err := c.file.ReadAt(b, c.offset(id)); err != nil {
		return 0, fmt.Errorf("page %d: %w", id, err)
	}
	overflow := uint64(order.Uint32(b[pageOverflow:]))
	if order.Uint64(b[pageID:]) != id || order.Uint16(b[pageFlags:]) != freelistFlag || overflow >= c.meta.Pages-id {
		return 0, wrong
	}
	list := bufio.NewReader(io.NewSectionReader(c.file, c.offset(id)+pageHeader, c.offset(1+overflow)-pageHeader))
	count, free, last := uint64(order.Uint16(b[pageCount:])), uint64(0), uint64(firstPage-1)
	if count == manyFree {
		_ = binary.Read(list, order, &count) // fails for the ids, too
	}
	for ; free < count; free++ {
		var next uint64
		if err := binary.Read(list, order, &next); err != nil || next <= last || next >= c.meta.Pages {
			return 0, wrong
		}
		last = next
	}
	return free + 1 + overflow, nil
}
