//go:build !unix

package app

import "math"

// maxOpenFiles returns the limit of open files of the process.
func maxOpenFiles() int { return math.MaxInt32 }
