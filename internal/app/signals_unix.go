//go:build unix

package app

import (
	"os"
	"syscall"
)

// hangup returns the signal for a reload.
func hangup() []os.Signal { return []os.Signal{syscall.SIGHUP} }

// toggle returns the signal that changes the log level.
func toggle() []os.Signal { return []os.Signal{syscall.SIGUSR1} }
