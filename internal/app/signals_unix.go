//go:build unix

package app

import (
	"os"
	"syscall"
)

// caught returns the signals that reload and that change the log level.
func caught() []os.Signal { return []os.Signal{syscall.SIGHUP, syscall.SIGUSR1} }
