//go:build !unix

package server

import "math"

// maxFiles returns how many files and connections this process may open.
func maxFiles() uint64 { return math.MaxUint64 }
