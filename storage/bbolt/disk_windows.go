package bbolt

import (
	"math"

	"golang.org/x/sys/windows"
)

// diskOf returns how many bytes the file system of dir has left, negative if that
// cannot be found out. Whether it takes no writes is not told here.
func diskOf(dir string) (free int64, readOnly bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return -1, false
	}
	var bytes uint64
	if windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil) != nil {
		return -1, false
	}
	return int64(min(bytes, math.MaxInt64)), false //nolint:gosec // so it fits
}
