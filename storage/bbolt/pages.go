package bbolt

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/bits"
	"os"
	"strings"
)

const (
	metaLen     = 64
	metaMagic   = 0xED0CDAED
	metaVersion = 2

	maxPageSize = 16 << 20 // of bbolt; it uses the page size of the system, at least 4 KiB
)

// A meta follows the header of a meta page, in the byte order of the machine. A bbolt file
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
	if _, err := file.ReadAt(b, offset+headerLen); err != nil {
		return meta{}, false
	}
	_, _ = binary.Decode(b, binary.NativeEndian, &m) // their size is fixed
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaLen-sum.Size()])
	return m, m.Magic == metaMagic && m.Version == metaVersion && m.Sum == sum.Sum64() && m.PageSize > 0 && m.PageSize <= maxPageSize
}

// newestMeta returns the newest intact meta page, and how many of the two are intact. None is if file is
// not a bbolt file.
func newestMeta(file io.ReaderAt) (newest meta, intact int) {
	// The second page follows the first, which may be unreadable and of any size: bbolt
	// allows powers of two.
	for offset := int64(0); offset <= maxPageSize; offset = max(1024, 2*offset) {
		m, ok := readMeta(file, offset)
		if !ok || offset != 0 && offset != int64(m.PageSize) || intact > 0 && m.PageSize != newest.PageSize {
			continue
		}
		if intact++; intact == 1 || m.Txid > newest.Txid {
			newest = m
		}
	}
	return newest, intact
}

// otherByteOrder reports whether file is a bbolt file of a machine with the other byte order.
func otherByteOrder(file io.ReaderAt) bool {
	var magic uint32
	err := read(file, headerLen, &magic)
	return err == nil && bits.ReverseBytes32(magic) == metaMagic
}

// read reads the fields of a value, or a slice of values, that begin at offset.
func read(file io.ReaderAt, offset int64, to any) error {
	return binary.Read(io.NewSectionReader(file, offset, int64(binary.Size(to))), binary.NativeEndian, to)
}

const (
	headerLen  = 16 // bytes
	elementLen = 16

	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10

	bucketFlag   = 0x01 // of an element
	bucketHeader = 16   // bytes: root page and sequence; if the root is 0, a page follows: it is inline

	manyFree  = 0xFFFF // as a count: the true one is the first element
	firstPage = 2      // after the meta pages
	maxDepth  = 64     // of a tree; bbolt's branches have at least two children
)

// A header begins a page. Elements follow, and the keys and values that these point to, without gaps.
type header struct {
	ID       uint64
	Flags    uint16
	Count    uint16 // of elements
	Overflow uint32 // pages after this one that belong to it
}

// A leafElement has the position of its key, from the element on, and the lengths of key and value.
type leafElement struct{ Flags, Position, Key, Value uint32 }

type branchElement struct {
	Position, Key uint32 // as in a leafElement
	Child         uint64
}

// A page is a page without its keys and values.
type page struct {
	header

	elements []leafElement // of a branch: without values
	children []uint64      // of a branch
	buckets  int           // elements that are one
	end      int64         // of the last value, from the beginning of the page on
}

// readPage reads the page that begins at offset.
func readPage(file io.ReaderAt, offset int64) (p page, err error) {
	if err := read(file, offset, &p.header); err != nil {
		return page{}, err
	}
	p.elements = make([]leafElement, p.Count)
	switch p.Flags {
	case leafFlag:
		err = read(file, offset+headerLen, p.elements)
	case branchFlag:
		branches := make([]branchElement, p.Count)
		err = read(file, offset+headerLen, branches)
		for i, b := range branches {
			p.elements[i].Position, p.elements[i].Key = b.Position, b.Key
			p.children = append(p.children, b.Child)
		}
	default:
		return p, fmt.Errorf("it is neither a branch nor a leaf, but of type %#x", p.Flags)
	}
	if err != nil {
		return p, fmt.Errorf("its elements: %w", err)
	}
	p.end = headerLen + elementLen*int64(p.Count)
	for i, e := range p.elements {
		size := int64(e.Key) + int64(e.Value)
		if headerLen+elementLen*int64(i)+int64(e.Position) != p.end || int64(e.Position)+size > math.MaxInt32 { // of a slice in bbolt
			return p, errors.New("its elements do not follow each other")
		}
		p.end += size
		p.buckets += int(e.Flags & bucketFlag)
	}
	return p, nil
}

// pairs returns the keys and values of a leaf with this content.
func (p page) pairs(content string) (pairs [][2]string) {
	rest := content[headerLen+elementLen*len(p.elements):]
	for _, e := range p.elements {
		end := int(e.Key + e.Value)
		pairs = append(pairs, [2]string{rest[:e.Key], rest[e.Key:end]})
		rest = rest[end:]
	}
	return pairs
}

// A pageCheck reads the pages of a closed database, the file and not bbolt's mapping of it. It
// compares each number with its bounds before using it, and visits no more than maxDepth levels and
// the number of pages in the file: it ends on any file, with memory for a page of each level. bbolt,
// which follows numbers without validating them, is safe on a file that passes.
type pageCheck struct {
	file io.ReaderAt
	meta meta
	step func() error // called for each page; an error ends the check
	used uint64       // pages
}

// checkPages checks the lists of buckets and of free pages, and the pages of the plants if all is set or no
// server has written the file, such as a copy. It returns the content of the bucket meta.
func checkPages(file *os.File, newest meta, step func() error, all bool) (bucket map[string]string, err error) {
	c := &pageCheck{file: file, meta: newest, step: step}
	bucket, plants, err := c.buckets()
	if err != nil {
		return nil, err
	}
	free, err := c.freelist()
	if err != nil || !all && isOwn(bucket, file) {
		return bucket, err
	}
	if plants != 0 {
		err = c.tree(plants, 1)
	}
	if known := firstPage + c.used + free; err == nil && known != c.meta.Pages {
		err = fmt.Errorf("the file should have %d pages, and %d are in use or free", c.meta.Pages, known)
	}
	return bucket, err
}

func (c *pageCheck) page(id uint64) (p page, err error) {
	if err := c.step(); err != nil {
		return page{}, err
	}
	if id < firstPage || id >= c.meta.Pages {
		return page{}, fmt.Errorf("page %d: invalid number, the file has %d pages", id, c.meta.Pages)
	}
	p, err = readPage(c.file, c.offset(id))
	overflow := uint64(p.Overflow)
	last := c.offset(overflow)
	c.used += 1 + overflow
	switch {
	case err != nil:
	case p.ID != id:
		err = fmt.Errorf("its number is %d", p.ID)
	case overflow >= c.meta.Pages-id || p.end < last || p.end > last+int64(c.meta.PageSize):
		err = fmt.Errorf("its elements do not fit its length, of %d pages", 1+overflow)
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
// gigabytes. It returns the content of meta, and the root page of the plants, 0 if they are inline.
func (c *pageCheck) buckets() (content map[string]string, plants uint64, err error) {
	wrong := corrupt("is a bbolt database, but not of a plant store, or its list of buckets is corrupt")
	p, err := c.page(c.meta.Root)
	if err != nil {
		return nil, 0, err
	}
	if p.Overflow > 0 || len(p.elements) != 2 || p.buckets != 2 {
		return nil, 0, wrong
	}
	b := make([]byte, p.end)
	if err := read(c.file, c.offset(p.ID), b); err != nil {
		return nil, 0, fmt.Errorf("page %d: %w", p.ID, err)
	}
	content = make(map[string]string)
	for i, pair := range p.pairs(string(b)) {
		name, value := pair[0], pair[1]
		if name != [...]string{metaBucket, plantsBucket}[i] || len(value) < bucketHeader { // in the order of keys
			return nil, 0, wrong
		}
		root := binary.NativeEndian.Uint64([]byte(value))
		if root != 0 && name == plantsBucket {
			return content, root, nil
		}
		inline, err := readPage(strings.NewReader(value), bucketHeader)
		if root != 0 || err != nil || inline.Flags != leafFlag || inline.buckets > 0 || bucketHeader+inline.end != int64(len(value)) {
			return nil, 0, wrong
		}
		for _, pair := range inline.pairs(value[bucketHeader:]) {
			if name == metaBucket {
				content[pair[0]] = pair[1]
			}
		}
	}
	return content, 0, nil
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
	}
	for i, child := range p.children {
		if p.elements[i].Key != keyLen { // bbolt's check prints it
			return fmt.Errorf("page %d: it has a key that is not an id", id)
		}
		if err := c.tree(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// freelist checks that the free pages are in order, and returns their number with those of the list
// itself: bbolt's check would need memory for each page that is neither in use nor free.
func (c *pageCheck) freelist() (pages uint64, err error) {
	id, h := c.meta.Freelist, header{}
	wrong := fmt.Errorf("page %d: it is not the list of free pages that it should be", id)
	if id < firstPage || id >= c.meta.Pages {
		return 0, wrong
	}
	if err := read(c.file, c.offset(id), &h); err != nil {
		return 0, fmt.Errorf("page %d: %w", id, err)
	}
	pages = 1 + uint64(h.Overflow)
	if h.ID != id || h.Flags != freelistFlag || pages > c.meta.Pages-id {
		return 0, wrong
	}
	list := bufio.NewReader(io.NewSectionReader(c.file, c.offset(id)+headerLen, c.offset(pages)-headerLen))
	count, free, last := uint64(h.Count), uint64(0), uint64(firstPage-1)
	if count == manyFree {
		_ = binary.Read(list, binary.NativeEndian, &count) // fails for the ids, too
	}
	for ; free < count; free++ {
		var next uint64
		if err := binary.Read(list, binary.NativeEndian, &next); err != nil || next <= last || next >= c.meta.Pages {
			return 0, wrong
		}
		last = next
	}
	return pages + free, nil
}
