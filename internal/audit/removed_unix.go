//go:build unix && !linux

package audit

import (
	"os"
	"syscall"
)

// isRemoved reports whether an open file has lost its last name.
func isRemoved(file *os.File) bool {
	info, err := file.Stat()
	if err != nil {
		return false
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && status.Nlink == 0
}
