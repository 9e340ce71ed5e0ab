package bbolt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// A page of a bbolt file has a header, elements of a fixed size, and then the keys
// and values to which these point, all numbers in the byte order of the machine.
// The offsets are in bytes.
const (
	pageID       = 0  // uint64
	pageFlags    = 8  // uint16
	pageCount    = 10 // uint16: of elements
	pageOverflow = 12 // uint32: how many pages after this one belong to it
	pageHeader   = 16

	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10

	elementLen = 16 // of both kinds

	branchPos   = 0 // uint32: of the key, from the element on
	branchKey   = 4 // uint32: length
	branchChild = 8 // uint64

	leafFlags = 0  // uint32: bucketFlag, or 0
	leafPos   = 4  // uint32: of the key, from the element on; the value follows
	leafKey   = 8  // uint32: length
	leafValue = 12 // uint32: length

	bucketFlag     = 0x01
	bucketSequence = 8  // uint64: how many plants there are, see [Engine.number]
	bucketHeader   = 16 // the number of the root page and the sequence; a page follows if the number is 0

	manyFree   = 0xFFFF // as a count: the true one is the first element
	noFreelist = ^uint64(0)
	firstPage  = 2 // after the meta pages

	withinBucket = 0 // for the number of a page that is not one of the file's own
)

// A walk looks at every page of a snapshot of the file. It reads the file instead
// of using what bbolt has mapped of it, goes by nothing that a page says before
// having compared it with the bounds of the file, and visits no page twice: it
// ends, and ends well, on any file.
type traversal struct {
	ctx    context.Context //nolint:containedctx // that of one call
	file   io.ReaderAt
	meta   meta
	report *storage.Report
	each   func(storage.Record) error // sees the plants that are whole, or is nil
	err    error                      // the first of each
	used   []bool                     // by page
}

// walk adds to report what a walk through the snapshot of tx finds, and shows
// each what is whole.
func (e *Engine) traverse(ctx context.Context, tx *bolt.Tx, report *storage.Report, each func(storage.Record) error) error {
	m, err := e.metaOf(tx)
	if err != nil {
		return err
	}
	w := &traversal{ctx: ctx, file: e.file, meta: m, report: report, each: each, used: make([]bool, m.pages)}
	w.tree(m.root, &keyRange{each: w.topLevel})
	if m.freelist != noFreelist && w.freelist(m.freelist) { // else bbolt finds out by itself what is free
		w.unclaimed()
	}
	return cmp.Or(w.err, ctx.Err())
}

// errMoved is what a snapshot of a file says whose meta pages have both been
// written anew since.
var errMoved = errors.New("the database changes too quickly to be checked: try again, or check a backup")

// metaOf returns the meta page that tx goes by.
func (e *Engine) metaOf(tx *bolt.Tx) (meta, error) {
	txid := uint64(tx.ID()) //nolint:gosec // bbolt has made an int of it
	for offset := int64(0); offset <= e.pageSize; offset += e.pageSize {
		if m, ok := readMeta(e.file, offset); ok && m.txid == txid {
			return m, nil
		}
	}
	return meta{}, errMoved
}

// A keyRange is what the keys of a part of a tree have to be like.
type keyRange struct {
	each func(flags uint32, key, value []byte) // sees them
	last []byte                                // the key before, nil at the beginning
}

// tree walks through the tree of pages whose root is page id.
func (w *traversal) tree(id uint64, keys *keyRange) { w.subtree(id, nil, nil, keys) }

// subtree walks through the part of a tree below page id, whose keys are not less
// than least, and less than end unless that is nil.
func (w *traversal) subtree(id uint64, least, end []byte, keys *keyRange) {
	page := w.page(id)
	if page == nil || w.err != nil || w.ctx.Err() != nil {
		return
	}
	switch flags := binary.NativeEndian.Uint16(page[pageFlags:]); flags {
	case branchFlag:
		w.branch(id, page, least, end, keys)
	case leafFlag:
		w.leaf(id, page, least, end, keys)
	default:
		w.report.Add("page %d: it is neither a branch nor a leaf, but of type %#x", id, flags)
	}
}

// branch walks through the pages below a branch page.
func (w *traversal) branch(id uint64, page, first, end []byte, keys *keyRange) {
	elements, ok := w.elements(id, page)
	if !ok {
		return
	}
	order := binary.NativeEndian
	least, data := make([][]byte, 0, len(elements)+1), page[pageHeader+len(elements)*elementLen:]
	for i, e := range elements {
		key, rest, ok := take(page, i, order.Uint32(e[branchPos:]), data, order.Uint32(e[branchKey:]))
		if !ok {
			w.report.Add("page %d: its keys do not follow each other", id)
			return
		}
		least, data = append(least, key), rest
	}
	if bytes.Compare(least[0], first) < 0 {
		w.report.Add("page %d: key %x is not where it would be looked for", id, least[0])
	}
	least = append(least, end)
	for i, e := range elements {
		w.subtree(order.Uint64(e[branchChild:]), least[i], least[i+1], keys)
	}
}

// leaf shows the elements of a leaf page, and returns what is left of it.
func (w *traversal) leaf(id uint64, page, least, end []byte, keys *keyRange) (rest []byte) {
	elements, ok := w.elements(id, page)
	if !ok {
		return nil
	}
	order := binary.NativeEndian
	rest = page[pageHeader+len(elements)*elementLen:]
	for i, e := range elements {
		pos, keySize, valueSize := order.Uint32(e[leafPos:]), order.Uint32(e[leafKey:]), order.Uint32(e[leafValue:])
		both, next, follows := take(page, i, pos, rest, keySize, valueSize)
		if ok && !follows {
			w.report.Add("page %d: its records do not follow each other", id)
		}
		if ok = ok && follows; ok {
			rest = next
		} else if both = pointed(page, i, pos, keySize, valueSize); both == nil {
			continue
		}
		key := both[:keySize]
		if bytes.Compare(key, least) < 0 || end != nil && bytes.Compare(key, end) >= 0 {
			w.report.Add("page %d: key %x is not where it would be looked for", id, key)
		}
		if keys.last != nil && bytes.Compare(keys.last, key) >= 0 {
			w.report.Add("page %d: key %x follows key %x", id, key, keys.last)
		}
		keys.last = key
		keys.each(order.Uint32(e[leafFlags:]), key, both[keySize:])
	}
	if !ok {
		return nil
	}
	return rest
}

// pointed returns the key and the value of a plant to which element i of a damaged
// page points, nil if that cannot be one. Their checksum tells whether it is.
func pointed(page []byte, i int, pos, keySize, valueSize uint32) []byte {
	start := int64(pageHeader+i*elementLen) + int64(pos)
	end := start + int64(keySize) + int64(valueSize)
	if keySize != keyLen || end > int64(len(page)) {
		return nil
	}
	return page[start:end:end]
}

// topLevel sees the buckets.
func (w *traversal) topLevel(flags uint32, name, value []byte) {
	if flags != bucketFlag || len(value) < bucketHeader {
		w.report.Add("bucket %q: it is none", name)
		return
	}
	if string(name) != plantsBucket {
		w.bucket(name, value, &keyRange{each: w.inside})
		return
	}
	w.bucket(name, value, &keyRange{each: w.record})
	n := binary.NativeEndian.Uint64(value[bucketSequence:])
	if found := uint64(w.report.Plants); n != 0 && n != found && w.report.Whole() { //nolint:gosec // it counts plants
		w.report.Add("bucket %q: it should have %d plants, and has %d", name, n, found)
	}
}

// inside sees what is in buckets in which there are no plants.
func (w *traversal) inside(flags uint32, name, value []byte) {
	if flags == bucketFlag && len(value) >= bucketHeader {
		w.bucket(name, value, &keyRange{each: w.inside})
	}
}

// bucket walks through the bucket with that name and value.
func (w *traversal) bucket(name, value []byte, keys *keyRange) {
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		w.tree(root, keys)
		return
	}
	page := value[bucketHeader:]
	if len(page) < pageHeader || binary.NativeEndian.Uint16(page[pageFlags:]) != leafFlag {
		w.report.Add("bucket %q: the page within it is no leaf", name)
		return
	}
	if rest := w.leaf(withinBucket, page, nil, nil, keys); len(rest) > 0 {
		w.report.Add("bucket %q: the page within it has less elements than room for them", name)
	}
}

// record sees the plants.
func (w *traversal) record(flags uint32, key, value []byte) {
	plant, err := decode(key, value)
	switch {
	case err != nil:
		w.report.Add("%v", err)
	case flags != 0:
		w.report.Add("%v: id %d: it is marked as a bucket", storage.ErrCorrupt, idOf(key))
	case w.err == nil:
		w.err = w.report.Count(storage.Record{ID: idOf(key), Plant: plant}, w.each)
	}
}

// freelist compares what page id says is free with what is in use, and reports
// whether it can be read.
func (w *traversal) freelist(id uint64) bool {
	page := w.page(id)
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
		w.report.Add("page %d: it is not the list of free pages that it should be", id)
		return false
	}
	for ; count > 0; count, list = count-1, list[idLen:] {
		free := order.Uint64(list)
		w.claim(free, 1, "is listed as free")
	}
	return true
}

// unclaimed looks at the pages that are neither in use nor free. Where a branch is
// damaged they are those below it, which may be whole.
func (w *traversal) unclaimed() {
	lost, below, header := uint64(0), !w.report.Whole(), make([]byte, pageHeader)
	for id := uint64(firstPage); id < uint64(len(w.used)); id++ {
		switch {
		case w.used[id]:
		case !below:
			lost++
		case w.read(header, id) && binary.NativeEndian.Uint64(header[pageID:]) == id &&
			binary.NativeEndian.Uint16(header[pageFlags:]) == leafFlag:
			w.tree(id, &keyRange{each: w.record})
		}
	}
	if lost > 0 {
		w.report.Add("neither in use nor free: %s", counted(lost, "page"))
	}
}

// page returns page id with all that overflows from it, or adds why not.
func (w *traversal) page(id uint64) []byte {
	header := make([]byte, pageHeader)
	if !w.within(id) || !w.read(header, id) {
		return nil
	}
	size := uint64(binary.NativeEndian.Uint32(header[pageOverflow:])) + 1
	if own := binary.NativeEndian.Uint64(header[pageID:]); own != id {
		w.report.Add("page %d: it says that it is page %d", id, own)
		return nil
	}
	if !w.claim(id, size, "is in use") {
		return nil
	}
	page := make([]byte, int64(size)*w.meta.pageSize) //nolint:gosec // less than the file
	if !w.read(page, id) {
		return nil
	}
	return page
}

// read fills b from the beginning of page id on.
func (w *traversal) read(b []byte, id uint64) bool {
	_, err := w.file.ReadAt(b, int64(id)*w.meta.pageSize) //nolint:gosec // within the file
	if err != nil {
		w.report.Add("page %d: %v", id, err)
	}
	return err == nil
}

// claim notes that n pages from id on are in use or free, as verb says, and
// reports whether they could be and were not yet.
func (w *traversal) claim(id, n uint64, verb string) bool {
	for ; n > 0; id, n = id+1, n-1 {
		if !w.within(id) {
			return false
		}
		if w.used[id] {
			w.report.Add("page %d: it %s, and is in use or listed already", id, verb)
			return false
		}
		w.used[id] = true
	}
	return true
}

// within reports whether the file has a page id, and adds it if not.
func (w *traversal) within(id uint64) bool {
	if id >= firstPage && id < uint64(w.meta.pages) { //nolint:gosec // not negative
		return true
	}
	w.report.Add("page %d: there is none, of %d pages in all", id, w.meta.pages)
	return false
}

// elements returns those of page id. All pages have some but that of an empty
// bucket, which is within the bucket.
func (w *traversal) elements(id uint64, page []byte) (elements [][]byte, ok bool) {
	count := int(binary.NativeEndian.Uint16(page[pageCount:]))
	if count == 0 && id != withinBucket {
		w.report.Add("page %d: it is empty", id)
		return nil, false
	}
	if pageHeader+count*elementLen > len(page) {
		w.report.Add("page %d: it has more elements than room for them", id)
		return nil, false
	}
	return slices.Collect(slices.Chunk(page[pageHeader:pageHeader+count*elementLen], elementLen)), true
}

// take cuts what element i of a page points to from data, the rest of the page. It
// reports false if the lengths are too much for that, or if pos, counted from the
// element on, is not where data begins: bbolt leaves no gaps.
func take(page []byte, i int, pos uint32, data []byte, lengths ...uint32) (its, rest []byte, ok bool) {
	n := int64(0)
	for _, length := range lengths {
		n += int64(length)
	}
	next := len(page) - len(data) - pageHeader - i*elementLen
	if int64(pos) != int64(next) || n > int64(len(data)) {
		return nil, nil, false
	}
	return data[:n:n], data[n:], true
}
