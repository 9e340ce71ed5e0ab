package bbolt

// How far ahead of the pages in use zeros are written, in bytes: a commit of
// usual plants is short of that, and a sync takes little longer with it.
const (
	aheadStep = 256 << 10
	aheadLow  = aheadStep / 2
)

// writeAhead writes zeros where the file has not been written yet, beyond the
// used bytes of it, when less than aheadLow of what follows them has been. The first
// page that goes to such a place makes the file system find a block for it and note
// that, which the next sync then has to bring to the disk as well.
//
// The last page of the file is left alone, so that a file that is cut short does not
// become as long as it was. What cannot be written is left to the commit that needs
// the place.
func (s *Store) writeAhead(used int64) {
	start := max(s.written, used)
	if start-used > aheadLow {
		return
	}
	end := min(used+aheadStep, s.size.Load()-s.pageSize)
	if start >= end {
		return
	}
	n, _ := s.file.WriteAt(make([]byte, end-start), start)
	s.written = start + int64(n)
}
