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

// tryLock returns bbolt's error for a locked file. It does not keep the lock, which bbolt could not take then.
func tryLock(file *os.File, exclusive bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	handle, place := windows.Handle(file.Fd()), &windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxUint32} // as bbolt
	err := windows.LockFileEx(handle, how, 0, 1, 0, place)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return bolterrors.ErrTimeout
	}
	return errors.Join(err, windows.UnlockFileEx(handle, 0, 1, 0, place))
}
