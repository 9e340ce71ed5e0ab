//go:build !linux

package storage

// yieldThread is a no-op here.
func yieldThread() {}
