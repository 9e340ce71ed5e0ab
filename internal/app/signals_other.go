//go:build !unix

package app

import (
	"os"
	"syscall"
)

// caught returns the signals that reload.
func caught() []os.Signal { return []os.Signal{syscall.SIGHUP} }
