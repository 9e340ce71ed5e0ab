package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// isRemoved reports whether an open file has no name any more. One that was renamed
// has another. It does not ask for the times of the file: one whose times somebody has
// seen gets new ones with the next write (since Linux 6.13), which costs more than the
// write.
func isRemoved(file *os.File) bool {
	raw, err := file.SyscallConn()
	if err != nil {
		return false
	}
	var stat unix.Statx_t
	failed := raw.Control(func(fd uintptr) {
		err = unix.Statx(int(fd), "", unix.AT_EMPTY_PATH, unix.STATX_NLINK, &stat)
	})
	if failed != nil || err != nil || stat.Mask&unix.STATX_NLINK == 0 { // as where there is no such call
		return hasNoLink(file)
	}
	return stat.Nlink == 0
}
