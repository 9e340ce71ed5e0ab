//go:build !unix

package audit

import "os"

// isRemoved returns false: a file that is open cannot be removed.
func isRemoved(*os.File) bool { return false }
