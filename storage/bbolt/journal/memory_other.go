//go:build !unix

package journal

func allocate(size int) ([]byte, error) { return make([]byte, size), nil }

func release([]byte) {}

// Map implements [file]. It returns a copy, which WriteAt keeps current.
func (f *dataFile) Map(size int64) ([]byte, error) {
	f.mapped = make([]byte, size)
	_, err := f.ReadAt(f.mapped, 0)
	return f.mapped, err
}

// WriteAt implements [file].
func (f *dataFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	copy(f.mapped[at:], b[:n])
	return n, err
}
