//go:build !unix

package app

import "os"

// toggle returns no signal.
func toggle() []os.Signal { return nil }
