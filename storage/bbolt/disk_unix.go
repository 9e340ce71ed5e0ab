//go:build linux || darwin

package bbolt

import (
	"math"

	"golang.org/x/sys/unix"
)

// readOnlyFlag is ST_RDONLY, and MNT_RDONLY on macOS.
const readOnlyFlag = 1

// diskOf returns how many bytes the file system of dir has left, negative if that
// cannot be found out, and whether it takes no writes.
func diskOf(dir string) (free int64, readOnly bool) {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return -1, false
	}
	size := uint64(stat.Bsize)                                //nolint:gosec // a size
	bytes := min(uint64(stat.Bavail)*size, math.MaxInt64)     //nolint:unconvert // not the same type everywhere
	return int64(bytes), uint64(stat.Flags)&readOnlyFlag != 0 //nolint:gosec // not the same type everywhere
}
