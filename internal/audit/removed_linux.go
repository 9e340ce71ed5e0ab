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
	removed := false
	err = raw.Control(func(fd uintptr) { removed = hasNoLink(int(fd)) })
	return err == nil && removed
}

// hasNoLink asks statx(2), or fstat(2) where that does not tell, as before Linux 4.11.
func hasNoLink(fd int) bool {
	var with unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_NLINK, &with); err == nil && with.Mask&unix.STATX_NLINK != 0 {
		return with.Nlink == 0
	}
	var without unix.Stat_t
	return unix.Fstat(fd, &without) == nil && without.Nlink == 0
}
