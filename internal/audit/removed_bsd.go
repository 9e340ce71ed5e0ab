//go:build unix && !linux

package audit

import "os"

// isRemoved reports whether an open file has no name any more. One that was renamed
// has another.
func isRemoved(file *os.File) bool { return hasNoLink(file) }
