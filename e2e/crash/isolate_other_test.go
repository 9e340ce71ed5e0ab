//go:build !linux

package crash

// runIsolated does nothing here: nothing is mounted.
func runIsolated() (code int, done bool) { return 0, false }
