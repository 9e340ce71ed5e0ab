package crash

import (
	"encoding/binary"
	"testing"
)

// The parts of bbolt's file format that the tests change. All numbers are in the byte order of
// the machine.
const (
	pageHeader = 16 // id 8, flags 2, count 2, overflow 4
	elementLen = 16 // after the page's header, for each entry
	branchPage = 1
	leafPage   = 2
)

// A span is a range of bytes of a file.
type span struct{ start, end int }

// A layout lists the used parts of a database file.
type layout struct {
	pageSize int
	headers  []span // of the pages of that bucket, with their elements
	used     int    // bytes up to the end of the last page in use
}

// newLayout parses the file of a closed database.
func newLayout(t testing.TB, file []byte) *layout {
	t.Helper()
	order := binary.NativeEndian
	l := &layout{pageSize: int(order.Uint32(file[pageHeader+8:]))}
	meta := file[pageHeader:]
	if other := file[l.pageSize+pageHeader:]; order.Uint64(other[48:]) > order.Uint64(meta[48:]) {
		meta = other
	}
	l.used = int(order.Uint64(meta[40:])) * l.pageSize
	var bucket uint64
	traverse(file, l.pageSize, order.Uint64(meta[16:]), func(_ span, keyLen int, entry span) {
		if string(file[entry.start:entry.start+keyLen]) == "plants" {
			bucket = order.Uint64(file[entry.start+keyLen:])
		}
	})
	if bucket == 0 {
		t.Fatal("the file has no plants, or so few that they have no separate page")
	}
	traverse(file, l.pageSize, bucket, func(header span, keyLen int, _ span) {
		if keyLen == 0 {
			l.headers = append(l.headers, header)
		}
	})
	return l
}

// traverse calls visit for each page below the given one, with no entry, and for each
// entry of the leaves: a key of keyLen bytes, and its value.
func traverse(file []byte, pageSize int, id uint64, visit func(header span, keyLen int, entry span)) {
	order := binary.NativeEndian
	start := int(id) * pageSize
	page := file[start:]
	count := int(order.Uint16(page[10:]))
	visit(span{start, start + pageHeader + count*elementLen}, 0, span{})
	for i := range count {
		at := pageHeader + i*elementLen
		element := page[at:]
		switch order.Uint16(page[8:]) {
		case branchPage:
			traverse(file, pageSize, order.Uint64(element[8:]), visit)
		case leafPage:
			from, keyLen := start+at+int(order.Uint32(element[4:])), int(order.Uint32(element[8:]))
			visit(span{}, keyLen, span{from, from + keyLen + int(order.Uint32(element[12:]))})
		}
	}
}
