//go:build !unix

package app

import "os"

// hangup returns the signal that asks to reload: none.
func hangup() []os.Signal { return nil }

// toggle returns the signal that changes the level of the log: none.
func toggle() []os.Signal { return nil }
