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

// statPath stats the file at path, without asking for its times: a file whose times
// somebody has seen gets new ones with the next write (since Linux 6.13), and a
// sync of some file systems writes those, too.
func statPath(path string) (fileStat, error) {
	return stat(unix.AT_FDCWD, path, 0)
}

// statOpen stats an open file.
func statOpen(file *os.File) (s fileStat, err error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return s, err
	}
	failed := raw.Control(func(fd uintptr) { s, err = stat(int(fd), "", unix.AT_EMPTY_PATH) })
	return s, errors.Join(failed, err)
}

// stat calls statx(2), or fstatat(2) where there is no such call: before Linux
// 4.11, and where a sandbox does not know it.
func stat(dir int, path string, flags int) (s fileStat, err error) {
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

func statx(dir int, path string, flags int) (fileStat, error) {
	var x unix.Statx_t
	err := unix.Statx(dir, path, flags, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_SIZE, &x)
	size := int64(x.Size) //nolint:gosec // no file is as long
	return fileStat{major: x.Dev_major, minor: x.Dev_minor, inode: x.Ino, size: size}, err
}

func fstatat(dir int, path string, flags int) (fileStat, error) {
	var x unix.Stat_t
	err := unix.Fstatat(dir, path, &x, flags)
	device := uint64(x.Dev) //nolint:unconvert // it is an uint32 on some machines
	return fileStat{major: unix.Major(device), minor: unix.Minor(device), inode: x.Ino, size: x.Size}, err
}

// sameFile reports whether both are of one file.
func (s fileStat) sameFile(other fileStat) bool {
	s.size, other.size = 0, 0
	return s == other
}
