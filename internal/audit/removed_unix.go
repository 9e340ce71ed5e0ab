//go:build unix && !linux

package audit

import (
	"os"
	"syscall"
)

// isRemoved reports whether an open file has no name any more. One that was renamed
// has another.
func isRemoved(file *os.File) bool {
	info, err := file.Stat()
	if err != nil {
		return false
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && status.Nlink == 0
}
