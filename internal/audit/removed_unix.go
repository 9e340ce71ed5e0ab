//go:build unix

package audit

import (
	"os"
	"syscall"
)

// hasNoLink reports whether no folder has the open file.
func hasNoLink(file *os.File) bool {
	info, err := file.Stat()
	if err != nil {
		return false
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && status.Nlink == 0
}
