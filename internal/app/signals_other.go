//go:build !unix

package app

import "os"

// hangup returns no signal.
func hangup() []os.Signal { return nil }

// toggle returns no signal.
func toggle() []os.Signal { return nil }
