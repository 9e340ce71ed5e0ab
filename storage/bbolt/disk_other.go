//go:build !linux && !darwin && !windows

package bbolt

// diskOf returns that nothing is known of the file system.
func diskOf(string) (free int64, readOnly bool) { return -1, false }
