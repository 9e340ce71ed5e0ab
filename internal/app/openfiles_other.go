//go:build !unix

package app

import "math"

// maxOpenFiles returns how many files the process may have open.
func maxOpenFiles() int { return math.MaxInt32 }
