//go:build !unix

package atomicfile

import "os"

// hold is a no-op, since directories cannot be locked. Leftover files remain.
func hold(*os.Root) (held bool, release func()) { return false, func() {} }
