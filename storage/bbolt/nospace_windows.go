package bbolt

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// diskFull returns the system's own errors for a full disk.
func diskFull() []syscall.Errno {
	return []syscall.Errno{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL}
}
