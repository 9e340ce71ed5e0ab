package bbolt

import (
	"encoding/binary"
	"hash/fnv"
	"io"
)

const (
	metaStart = 16 // offset of the fields in a meta page, after the page's header
	metaLen   = 64 // of the fields
	metaMagic = 0xED0CDAED
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

// size returns how many bytes the file has at least.
func (m meta) size() int64 { return int64(m.Pages) * int64(m.PageSize) } //nolint:gosec // of a file whose size is an int64

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
	return m, m.Magic == metaMagic && m.Sum == sum.Sum64()
}

// newestMeta returns the newest intact meta page. It reports false if file is not a bbolt
// file, or both are corrupt.
func newestMeta(file io.ReaderAt) (newest meta, found bool) {
	// The second page follows the first, which may be unreadable and of any size: bbolt
	// allows powers of two up to 16 MiB.
	for offset := int64(0); offset <= 16<<20; offset = max(1024, 2*offset) {
		m, ok := readMeta(file, offset)
		if ok && (offset == 0 || offset == int64(m.PageSize)) && (!found || m.Txid > newest.Txid) {
			newest, found = m, true
		}
	}
	return newest, found
}
