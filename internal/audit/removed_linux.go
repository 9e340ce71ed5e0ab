package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// isRemoved reports whether an open file has lost its last name. It doesn't query times: since
// Linux 6.13, the write after such a query has to update them, which costs more than the write.
// It calls statx(2), or fstat(2) before Linux 4.11.
func isRemoved(file *os.File) bool {
	fd := int(file.Fd())
	var with unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_NLINK, &with); err == nil && with.Mask&unix.STATX_NLINK != 0 {
		return with.Nlink == 0
	}
	var without unix.Stat_t
	return unix.Fstat(fd, &without) == nil && without.Nlink == 0
}
