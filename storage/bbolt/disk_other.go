//go:build !linux && !darwin && !windows

package bbolt

import "os"

// diskOf returns that the free space is unknown.
func diskOf(*os.File) (free int64, readOnly bool) { return -1, false }

// refuseNetwork accepts every directory: the file system is unknown here.
func refuseNetwork(string) error { return nil }
