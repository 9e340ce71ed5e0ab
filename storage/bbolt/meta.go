package bbolt

import (
	"encoding/binary"
	"hash/fnv"
	"io"
)

// A bbolt file begins with two meta pages. Transaction n writes page n%2, as
// its last act, and so leaves the one of transaction n-1 alone. Each holds,
// after a page header and in the byte order of the machine, the fields whose
// offsets these are.
const (
	metaStart    = 16 // of the fields, after the page's header
	metaPageSize = 8  // uint32
	metaRoot     = 16 // uint64: the page at the root of the tree of buckets
	metaFreelist = 32 // uint64: the page that lists the free ones
	metaPages    = 40 // uint64: pages of the file that are in use, or have been
	metaTxid     = 48 // uint64
	metaSum      = 56 // uint64: FNV-1a of the fields before it
	metaLen      = 64

	metaMagic = 0xED0CDAED // uint32, the first field
)

// A meta is what a meta page says.
type meta struct {
	pageSize int64
	root     uint64
	freelist uint64
	pages    int64
	txid     uint64
}

// readMeta reads the meta page that begins at offset. It reports false if
// there is none, or none that is whole.
func readMeta(file io.ReaderAt, offset int64) (meta, bool) {
	b := make([]byte, metaLen)
	if _, err := file.ReadAt(b, offset+metaStart); err != nil {
		return meta{}, false
	}
	order := binary.NativeEndian
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSum])
	return meta{
		pageSize: int64(order.Uint32(b[metaPageSize:])),
		root:     order.Uint64(b[metaRoot:]),
		freelist: order.Uint64(b[metaFreelist:]),
		pages:    int64(order.Uint64(b[metaPages:])), //nolint:gosec // of a file whose size is an int64
		txid:     order.Uint64(b[metaTxid:]),
	}, order.Uint32(b) == metaMagic && order.Uint64(b[metaSum:]) == sum.Sum64()
}

// newestMeta returns the meta page of the last transaction that is whole in
// file. It reports false if file is no bbolt file, or neither page is whole.
func newestMeta(file io.ReaderAt) (newest meta, found bool) {
	// The second page follows the first, whose size may not be known: bbolt
	// allows any power of two up to 16 MiB.
	for offset := int64(0); offset <= 16<<20; offset = max(1024, 2*offset) {
		m, ok := readMeta(file, offset)
		if ok && (offset == 0 || offset == m.pageSize) && (!found || m.txid > newest.txid) {
			newest, found = m, true
		}
	}
	return newest, found
}
