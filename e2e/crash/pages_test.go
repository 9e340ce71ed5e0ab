package crash

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/must"
)

// A span is a range of bytes of a file.
type span struct{ start, end int }

// A layout lists the used parts of a database file.
type layout struct {
	pageSize int
	headers  []span // of the pages with plants, with their elements, in the order of the ids; the first is the root
	used     int    // bytes up to the end of the last page in use
}

// newLayout returns the layout of a closed database.
func newLayout(t testing.TB, file []byte) *layout {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plants.db")
	must.Do(t, os.WriteFile(path, file, 0o600))
	db := must.Get(bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true}))(t)
	l := &layout{pageSize: db.Info().PageSize}
	must.Do(t, db.View(func(tx *bolt.Tx) error {
		l.used = int(tx.Size())
		l.add(file, uint64(tx.Bucket([]byte("plants")).Root()))
		return nil
	}))
	must.Do(t, db.Close())
	return l
}

// add adds the page with that number, and the pages below it. A page begins with a header of 16 bytes, and 16
// for each element.
func (l *layout) add(file []byte, id uint64) {
	const header, branch = 16, 1
	order, start := binary.NativeEndian, int(id)*l.pageSize
	page := file[start:]
	count := int(order.Uint16(page[10:]))
	l.headers = append(l.headers, span{start, start + header + header*count})
	if order.Uint16(page[8:]) == branch {
		for i := range count {
			l.add(file, order.Uint64(page[header+header*i+8:]))
		}
	}
}
