//go:build linux || darwin

package bbolt

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// freeSpace returns how many bytes the file system of file has left, negative if unknown.
func freeSpace(file *os.File) int64 {
	var stat unix.Statfs_t
	if unix.Fstatfs(int(file.Fd()), &stat) != nil {
		return -1
	}
	size := uint64(stat.Bsize)                                 //nolint:gosec // a size
	return int64(min(uint64(stat.Bavail)*size, math.MaxInt64)) //nolint:unconvert // not the same type everywhere
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
