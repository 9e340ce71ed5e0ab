package bbolt

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// A page of a bbolt file has a header, elements of 16 bytes, and the keys and values
// that these point to, without gaps. Numbers are in the byte order of the machine.
// The constants are offsets in bytes.
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

	bucketFlag     = 0x01
	bucketSequence = 8  // uint64: number of plants, see countTree
	bucketHeader   = 16 // root page and sequence; if the root is 0, a page follows: it is inline

	manyFree   = 0xFFFF // as a count: the true one is the first element
	noFreelist = ^uint64(0)
	firstPage  = 2 // after the meta pages
)

// errMoved is returned for a snapshot whose meta page was overwritten meanwhile.
var errMoved = errors.New("the database changes too quickly to be checked: try again, or check a backup")

// An fsck traverses all pages of a snapshot. It reads the file, not bbolt's mapping of
// it, compares each number with the bounds of the file before using it, and visits no
// page twice: it ends on any file. A file without findings is safe for bbolt's own check,
// which compares the order of the keys.
type fsck struct {
	ended  func() error // returns an error when it should end
	file   io.ReaderAt
	meta   meta
	report *storage.Report
	each   func(storage.Record) error // called with each intact plant
	err    error                      // the first of each
	plants uint64                     // in the pages so far
	used   []bool                     // by page
}

// fsck adds to report the corruption of the snapshot of tx, and calls each with each
// intact plant. The order is ascending unless there is corruption.
func (e *Engine) fsck(ctx context.Context, tx *bolt.Tx, report *storage.Report, each func(storage.Record) error) error {
	f := e.newFsck(tx, report)
	if f == nil {
		return errMoved
	}
	f.each, f.ended = each, ctx.Err
	f.tree(f.meta.Root, f.root)
	if f.meta.Freelist != noFreelist && f.freelist() && !report.Intact() {
		f.salvage()
	}
	return cmp.Or(f.err, ctx.Err())
}

// verifyRoot returns an error if the list of buckets or an inline bucket is corrupt, such
// as the bucket meta. Each commit rewrites these without checking them: a wrong length
// would become gigabytes.
func (e *Engine) verifyRoot(tx *bolt.Tx) error {
	var report storage.Report
	f := e.newFsck(tx, &report)
	if f == nil {
		return errMoved
	}
	f.tree(f.meta.Root, func(b element) {
		if len(b.value) < bucketHeader || binary.NativeEndian.Uint64(b.value) == 0 {
			f.bucket(b, func(element) {})
		}
	})
	if report.Intact() {
		return nil
	}
	return corrupt("is corrupt (%s): restore a backup", report.Corruption[0])
}

// newFsck returns an fsck of the snapshot of tx, or nil if its meta page was overwritten.
func (e *Engine) newFsck(tx *bolt.Tx, report *storage.Report) *fsck {
	f := &fsck{ended: func() error { return nil }, file: e.file, report: report}
	for offset := int64(0); offset <= e.pageSize; offset += e.pageSize { // in a copy by bbolt it may be either page
		if m, ok := readMeta(e.file, offset); ok && m.Txid == uint64(tx.ID()) { //nolint:gosec // bbolt has made an int of it
			f.meta = m
		}
	}
	if f.meta.PageSize == 0 {
		return nil
	}
	f.used = make([]bool, f.meta.Pages)
	return f
}

// An element is a key and a value of a leaf page, or a key and a child of a branch page.
type element struct {
	key, value []byte
	child      uint64
	bucket     bool // whether the value is a bucket
}

// tree calls each with the elements of the leaf pages in the tree below page id.
func (f *fsck) tree(id uint64, each func(element)) {
	page := f.page(id)
	if page == nil {
		return
	}
	flags := binary.NativeEndian.Uint16(page[pageFlags:])
	if flags != branchFlag && flags != leafFlag {
		f.report.Add("page %d: it is neither a branch nor a leaf, but of type %#x", id, flags)
		return
	}
	elements, _ := f.elements(fmt.Sprintf("page %d", id), page)
	if len(elements) == 0 && f.report.Intact() { // an empty bucket is inline
		f.report.Add("page %d: it is empty", id)
	}
	for _, e := range elements {
		switch {
		case f.err != nil || f.ended() != nil:
			return
		case flags == branchFlag:
			f.tree(e.child, each)
		default:
			each(e)
		}
	}
}

// elements returns the elements of a page that are within it, and where the last one
// ends. what names the page.
func (f *fsck) elements(what string, page []byte) (elements []element, end int) {
	order := binary.NativeEndian
	leaf := order.Uint16(page[pageFlags:]) == leafFlag
	count := int(order.Uint16(page[pageCount:]))
	end = pageHeader + count*elementLen
	if end > len(page) {
		f.report.Add("%s: it has more elements than fit", what)
		return nil, end
	}
	gaps := false
	for at := pageHeader; at < pageHeader+count*elementLen; at += elementLen {
		b := page[at:]
		e := element{child: order.Uint64(b[branchChild:])}
		pos, keyLen, valueLen := order.Uint32(b[branchPos:]), order.Uint32(b[branchKey:]), uint32(0)
		if leaf {
			e.bucket = order.Uint32(b[leafFlags:])&bucketFlag != 0
			pos, keyLen, valueLen = order.Uint32(b[leafPos:]), order.Uint32(b[leafKey:]), order.Uint32(b[leafValue:])
		}
		start := int64(at) + int64(pos)
		value := start + int64(keyLen)
		next := value + int64(valueLen)
		gaps = gaps || start != int64(end) || next > int64(len(page))
		if next > int64(len(page)) {
			continue
		}
		e.key, e.value, end = page[start:value:value], page[value:next:next], int(next)
		elements = append(elements, e)
	}
	if gaps {
		f.report.Add("%s: its elements do not follow each other", what)
	}
	return elements, end
}

// root traverses a bucket of the root.
func (f *fsck) root(e element) {
	if string(e.key) != plantsBucket {
		f.bucket(e, f.nested)
		return
	}
	f.bucket(e, f.record)
	if !f.report.Intact() { // such as a value that is not a bucket
		return
	}
	if want := binary.NativeEndian.Uint64(e.value[bucketSequence:]); want != 0 && want != f.plants {
		f.report.Add("bucket %q: it should have %d plants, and has %d", e.key, want, f.plants)
	}
}

// nested traverses an element of a bucket without plants, if it is a bucket.
func (f *fsck) nested(e element) {
	if e.bucket {
		f.bucket(e, f.nested)
	}
}

// bucket calls each with the elements of bucket e.
func (f *fsck) bucket(e element, each func(element)) {
	if !e.bucket || len(e.value) < bucketHeader {
		f.report.Add("bucket %q: it is not a bucket", e.key)
		return
	}
	if root := binary.NativeEndian.Uint64(e.value); root != 0 {
		f.tree(root, each)
		return
	}
	page := e.value[bucketHeader:]
	if len(page) < pageHeader || binary.NativeEndian.Uint16(page[pageFlags:]) != leafFlag {
		f.report.Add("bucket %q: its inline page is not a leaf", e.key)
		return
	}
	elements, end := f.elements(fmt.Sprintf("bucket %q", e.key), page)
	if end != len(page) {
		f.report.Add("bucket %q: its inline page has another length than its elements", e.key)
	}
	for _, e := range elements {
		each(e)
	}
}

// record checks a plant.
func (f *fsck) record(e element) {
	plant, err := decode(e.key, e.value)
	switch {
	case err != nil:
		f.report.Add("%v", err)
	case e.bucket:
		f.report.Add("%v: id %d: it is marked as a bucket", storage.ErrCorrupt, idOf(e.key))
	case f.err == nil:
		f.plants++
		f.err = f.each(storage.Record{ID: idOf(e.key), Plant: *plant})
	}
}

// freelist marks the free pages as used, and reports whether all of them are known.
func (f *fsck) freelist() bool {
	id := f.meta.Freelist
	page := f.page(id)
	if page == nil {
		return false
	}
	order := binary.NativeEndian
	const idLen = 8
	list, count := page[pageHeader:], uint64(order.Uint16(page[pageCount:]))
	if count == manyFree && len(list) >= idLen {
		list, count = list[idLen:], order.Uint64(list)
	}
	if order.Uint16(page[pageFlags:]) != freelistFlag || count > uint64(len(list)/idLen) {
		f.report.Add("page %d: it is not the list of free pages that it should be", id)
		return false
	}
	for ; count > 0; count, list = count-1, list[idLen:] {
		f.claim(order.Uint64(list), 1, "is listed as free")
	}
	return true
}

// salvage checks the plants of leaf pages that are neither free nor in use: a corrupt
// branch may have led to them.
func (f *fsck) salvage() {
	header := make([]byte, pageHeader)
	for id := uint64(firstPage); id < uint64(len(f.used)); id++ {
		if !f.used[id] && f.read(header, id) && binary.NativeEndian.Uint64(header[pageID:]) == id &&
			binary.NativeEndian.Uint16(header[pageFlags:]) == leafFlag {
			f.tree(id, f.record)
		}
	}
}

// page returns page id with its overflow, or nil after reporting why not.
func (f *fsck) page(id uint64) []byte {
	header := make([]byte, pageHeader)
	if !f.claim(id, 1, "is in use") || !f.read(header, id) {
		return nil
	}
	if own := binary.NativeEndian.Uint64(header[pageID:]); own != id {
		f.report.Add("page %d: its number is %d", id, own)
		return nil
	}
	overflow := uint64(binary.NativeEndian.Uint32(header[pageOverflow:]))
	if !f.claim(id+1, overflow, "is in use") {
		return nil
	}
	page := make([]byte, (1+overflow)*uint64(f.meta.PageSize))
	if !f.read(page, id) {
		return nil
	}
	return page
}

// read fills b from the beginning of page id.
func (f *fsck) read(b []byte, id uint64) bool {
	_, err := f.file.ReadAt(b, int64(id)*int64(f.meta.PageSize)) //nolint:gosec // within the file
	if err != nil {
		f.report.Add("page %d: %v", id, err)
	}
	return err == nil
}

// claim marks n pages from id on as used. It reports whether the file has all of them, and all
// were unused.
func (f *fsck) claim(id, n uint64, verb string) bool {
	for ; n > 0; id, n = id+1, n-1 {
		switch {
		case id < firstPage || id >= uint64(len(f.used)):
			f.report.Add("page %d: invalid number, the file has %d pages", id, len(f.used))
			return false
		case f.used[id]:
			f.report.Add("page %d: it %s twice, or both in use and free", id, verb)
			return false
		}
		f.used[id] = true
	}
	return true
}
