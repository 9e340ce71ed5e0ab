//go:build unix

package app

import (
	"os"
	"syscall"
)

// hangup returns the signal that asks to reload.
func hangup() []os.Signal { return []os.Signal{syscall.SIGHUP} }

// toggle returns the signal that changes the level of the log.
func toggle() []os.Signal { return []os.Signal{syscall.SIGUSR1} }
