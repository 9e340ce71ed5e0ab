//go:build linux || darwin

package bbolt

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// diskOf returns how many bytes the file system of file has left, negative if unknown, and
// whether it is mounted read-only.
func diskOf(file *os.File) (free int64, readOnly bool) {
	var stat unix.Statfs_t
	if unix.Fstatfs(int(file.Fd()), &stat) != nil {
		return -1, false
	}
	const readOnlyFlag = 1                                    // ST_RDONLY, and MNT_RDONLY on macOS
	size := uint64(stat.Bsize)                                //nolint:gosec // a size
	bytes := min(uint64(stat.Bavail)*size, math.MaxInt64)     //nolint:unconvert // not the same type everywhere
	return int64(bytes), uint64(stat.Flags)&readOnlyFlag != 0 //nolint:gosec // not the same type everywhere
}

// refuseNetwork returns a refusal if dir is on a network file system.
func refuseNetwork(dir string) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return err
	}
	if name := networkName(stat); name != "" {
		return refusal("would be on a network file system (%s), which cannot keep it safe: name a file on a local disk", name)
	}
	return nil
}
