//go:build !linux

package journal

import "os"

// syncData makes earlier writes to file durable.
func syncData(file *os.File) error { return file.Sync() }
