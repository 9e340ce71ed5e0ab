//go:build unix

package app

import (
	"math"
	"syscall"
)

// maxOpenFiles returns the limit of open files of the process. The Go runtime has raised the
// soft limit to the hard one.
func maxOpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(limit.Cur)
}
