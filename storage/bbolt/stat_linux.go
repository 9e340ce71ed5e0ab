package bbolt

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A fileStat identifies a file, and has its size.
type fileStat struct {
	major, minor uint32 // of the device
	inode        uint64
	size         int64 // in bytes
}

func statPath(path string) (fileStat, error) { return stat(unix.AT_FDCWD, path, 0) }

func statOpen(file *os.File) (s fileStat, err error) {
	return stat(int(file.Fd()), "", unix.AT_EMPTY_PATH)
}

// stat does not query the times of the file: after a query of them the next write updates
// them (since Linux 6.13), and on some file systems the next sync has to write them.
func stat(dir int, path string, flags int) (s fileStat, err error) {
	var x unix.Statx_t
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Statx(dir, path, flags, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_SIZE, &x)
	}
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // before Linux 4.11, and in old sandboxes
		var old unix.Stat_t
		err = unix.Fstatat(dir, path, &old, flags)
		device := uint64(old.Dev)                                                                                   //nolint:unconvert // it is an uint32 on some machines
		x.Dev_major, x.Dev_minor, x.Ino, x.Size = unix.Major(device), unix.Minor(device), old.Ino, uint64(old.Size) //nolint:gosec // not negative
	}
	if err != nil {
		return s, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return fileStat{x.Dev_major, x.Dev_minor, x.Ino, int64(x.Size)}, nil //nolint:gosec // no file is as long
}

func (s fileStat) sameFile(other fileStat) bool {
	s.size, other.size = 0, 0
	return s == other
}
