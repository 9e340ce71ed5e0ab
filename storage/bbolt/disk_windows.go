package bbolt

import (
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// freeSpace returns how many bytes the file system of file has left, negative if unknown.
func freeSpace(file *os.File) int64 {
	name, err := windows.UTF16PtrFromString(filepath.Dir(file.Name()))
	var bytes uint64
	if err != nil || windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil) != nil {
		return -1
	}
	return int64(min(bytes, math.MaxInt64)) //nolint:gosec // so it fits
}

// refuseNetwork accepts every directory: the file system is unknown here.
func refuseNetwork(string) error { return nil }
