//go:build !linux

package journal

import "os"

// syncData makes what was written to file durable.
func syncData(file *os.File) error { return file.Sync() }
