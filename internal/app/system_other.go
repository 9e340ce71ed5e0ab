//go:build !unix

package app

import (
	"math"
	"os"
	"syscall"
)

// caught returns the signal that reloads.
func caught() []os.Signal { return []os.Signal{syscall.SIGHUP} }

// maxOpenFiles returns the limit of open files of the process.
func maxOpenFiles() int { return math.MaxInt32 }
