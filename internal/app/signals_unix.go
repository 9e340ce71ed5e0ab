//go:build unix

package app

import (
	"os"
	"syscall"
)

// toggle returns the signal that changes the log level.
func toggle() []os.Signal { return []os.Signal{syscall.SIGUSR1} }
