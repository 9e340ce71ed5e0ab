package bbolt

import (
	"math"

	"golang.org/x/sys/windows"
)

// diskOf returns how many bytes the file system of dir has left, negative if unknown.
func diskOf(dir string) (free int64, readOnly bool) {
	name, err := windows.UTF16PtrFromString(dir)
	var bytes uint64
	if err != nil || windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil) != nil {
		return -1, false
	}
	return int64(min(bytes, math.MaxInt64)), false //nolint:gosec // so it fits
}

// refuseNetwork accepts every directory: the file system is unknown here.
func refuseNetwork(string) error { return nil }
