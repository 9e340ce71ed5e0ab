//go:build unix

package server

import (
	"math"
	"syscall"
)

// maxFiles returns how many files and connections this process may open. Go has raised the soft limit
// to the hard one.
func maxFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxUint64
	}
	return uint64(limit.Cur) //nolint:unconvert // on FreeBSD it is signed
}
