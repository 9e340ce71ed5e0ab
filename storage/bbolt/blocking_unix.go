//go:build unix

package bbolt

import (
	"os"
	"syscall"
)

// setBlocking reverts [syscall.O_NONBLOCK], which open(2) may define for regular files one day.
func setBlocking(file *os.File) error { return syscall.SetNonblock(int(file.Fd()), false) }
