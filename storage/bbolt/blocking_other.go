//go:build !unix

package bbolt

import "os"

// setBlocking returns nil: opening a file never waits here.
func setBlocking(*os.File) error { return nil }
