//go:build !windows

package bbolt

import "syscall"

// diskFull returns nothing: [syscall.ENOSPC] and its kin say it all.
func diskFull() []syscall.Errno { return nil }
