//go:build !linux

package storage

// yieldProcessor does nothing.
func yieldProcessor() {}
