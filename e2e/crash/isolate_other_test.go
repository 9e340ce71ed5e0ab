//go:build !linux

package crash

// runIsolated is a no-op here: the tests mount no file systems.
func runIsolated() (code int, done bool) { return 0, false }
