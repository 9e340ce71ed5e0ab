//go:build linux || darwin || freebsd

package bbolt

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"

	bolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"
)

// freeSpace returns how many bytes the file system of file has left, negative if unknown.
func freeSpace(file *os.File) int64 {
	var stat unix.Statfs_t
	if unix.Fstatfs(int(file.Fd()), &stat) != nil {
		return -1
	}
	size := uint64(stat.Bsize)
	return int64(min(uint64(stat.Bavail)*size, math.MaxInt64)) //nolint:unconvert // not the same type everywhere
}

// fileIdentity returns what no other file of the file system has, or "" if it is unknown.
func fileIdentity(file *os.File) string {
	var stat unix.Stat_t
	if unix.Fstat(int(file.Fd()), &stat) != nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", stat.Dev, stat.Ino)
}

// mapsWholeFile: on Windows bbolt extends the file to the size of its mapping.
const mapsWholeFile = false

// reserveMapping returns an error unless bbolt can map size bytes more: it needs as much address space.
func reserveMapping(_ *os.File, size int64) error {
	space, err := unix.Mmap(-1, 0, int(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	return unix.Munmap(space)
}

// tryLock locks file, or returns bbolt's error for a locked file.
func tryLock(file *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return bolterrors.ErrTimeout
	}
	return err
}
