package bbolt

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A sighting is what tells one file from another, and how long it is.
type sighting struct {
	major, minor uint32 // of the device
	inode        uint64
	size         int64 // in bytes
}

// sight looks at the file at path, without asking for its times: a file whose times
// somebody has seen gets new ones with the next write (since Linux 6.13), and a
// sync of some file systems writes those, too.
func sight(path string) (sighting, error) {
	return statx(unix.AT_FDCWD, path, 0)
}

// sightOf looks at an open file.
func sightOf(file *os.File) (s sighting, err error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return s, err
	}
	failed := raw.Control(func(fd uintptr) {
		s, err = statx(int(fd), "", unix.AT_EMPTY_PATH)
	})
	return s, errors.Join(failed, err)
}

func statx(dir int, path string, flags int) (sighting, error) {
	var stat unix.Statx_t
	for {
		err := unix.Statx(dir, path, flags, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_SIZE, &stat)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		size := int64(stat.Size) //nolint:gosec // no file is as long
		return sighting{major: stat.Dev_major, minor: stat.Dev_minor, inode: stat.Ino, size: size}, err
	}
}

// sameFile reports whether both are of one file.
func (s sighting) sameFile(other sighting) bool {
	s.size, other.size = 0, 0
	return s == other
}
