//go:build unix

package journal

import "golang.org/x/sys/unix"

// allocate returns size zero bytes outside the Go heap. The system allocates them as they are
// written to.
func allocate(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// release frees memory of allocate or Map.
func release(b []byte) { _ = unix.Munmap(b) } // this fails for other memory only

// Map implements [file]. The pages in the cache of the operating system are not copied.
func (f *dataFile) Map(size int64) (_ []byte, err error) {
	f.mapped, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	return f.mapped, err
}
