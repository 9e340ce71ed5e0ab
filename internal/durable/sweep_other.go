//go:build !unix

package durable

// hold does nothing where folders cannot be locked: nothing is swept away there.
func hold(string) (held bool, release func()) { return false, func() {} }
