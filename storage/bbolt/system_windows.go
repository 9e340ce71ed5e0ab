package bbolt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	bolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/windows"

	"plantstore/storage"
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

// lock refuses a database that another process has open. It does not prevent others from opening
// it later: an open file could not be replaced here. Its errors are those of opening it, for
// [explain].
func lock(path string) (unlock func() error, err error) {
	file, err := openExisting(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	_ = file.Close() // nothing was written
	e, err := open(context.Background(), path, storage.Options{ReadOnly: true})
	if err == nil {
		err = e.Close()
	}
	if errors.Is(err, storage.ErrLocked) {
		return nil, bolterrors.ErrTimeout
	}
	return func() error { return nil }, nil // a corrupt one may be replaced
}
