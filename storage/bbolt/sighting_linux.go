package bbolt

import (
	"errors"
	"io/fs"
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
	return look(unix.AT_FDCWD, path, 0)
}

// sightOf looks at an open file.
func sightOf(file *os.File) (s sighting, err error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return s, err
	}
	failed := raw.Control(func(fd uintptr) { s, err = look(int(fd), "", unix.AT_EMPTY_PATH) })
	return s, errors.Join(failed, err)
}

// look looks by statx(2), or by fstatat(2) where there is no such call: before Linux
// 4.11, and where a sandbox does not know it.
func look(dir int, path string, flags int) (s sighting, err error) {
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		s, err = statx(dir, path, flags)
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) {
			s, err = fstatat(dir, path, flags)
		}
	}
	if err != nil {
		return s, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return s, nil
}

func statx(dir int, path string, flags int) (sighting, error) {
	var stat unix.Statx_t
	err := unix.Statx(dir, path, flags, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_SIZE, &stat)
	size := int64(stat.Size) //nolint:gosec // no file is as long
	return sighting{major: stat.Dev_major, minor: stat.Dev_minor, inode: stat.Ino, size: size}, err
}

func fstatat(dir int, path string, flags int) (sighting, error) {
	var stat unix.Stat_t
	err := unix.Fstatat(dir, path, &stat, flags)
	device := uint64(stat.Dev) //nolint:unconvert // it is an uint32 on some machines
	return sighting{major: unix.Major(device), minor: unix.Minor(device), inode: stat.Ino, size: stat.Size}, err
}

// sameFile reports whether both are of one file.
func (s sighting) sameFile(other sighting) bool {
	s.size, other.size = 0, 0
	return s == other
}
