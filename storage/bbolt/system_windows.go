package bbolt

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	bolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/windows"
)

// freeSpace returns how many bytes the file system of file has left, negative if unknown.
func freeSpace(file *os.File) int64 {
	name, err := windows.UTF16PtrFromString(filepath.Dir(file.Name()))
	var bytes uint64
	if err != nil || windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil) != nil {
		return -1
	}
	return int64(min(bytes, math.MaxInt64))
}

// fileIdentity returns what no other file of the file system has, or "" if it is unknown.
func fileIdentity(file *os.File) string {
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &info) != nil {
		return ""
	}
	return fmt.Sprintf("%d/%d/%d", info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow)
}

// mapsWholeFile: bbolt extends the file to the size of its mapping.
const mapsWholeFile = true

// reserveMapping extends the file to the size of its next mapping, and returns an error if the disk is
// full. bbolt would notice that only when it had removed the last mapping, and could not continue.
func reserveMapping(file *os.File, size int64) error {
	if err := file.Truncate(size); err != nil && NoSpace(err) {
		return err
	}
	return nil
}

// lockedBytes returns the place of the byte that bbolt locks.
func lockedBytes() *windows.Overlapped {
	return &windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxUint32}
}

// tryLock locks file, or returns bbolt's error for a locked file.
func tryLock(file *os.File, exclusive bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(file.Fd()), how, 0, 1, 0, lockedBytes())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return bolterrors.ErrTimeout
	}
	return err
}

// unlockFile lets bbolt lock file.
func unlockFile(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, lockedBytes())
}
