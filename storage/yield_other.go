//go:build !linux

package storage

// yieldThread does nothing.
func yieldThread() {}
