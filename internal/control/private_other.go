//go:build !unix

package control

// checkOwner does nothing: who may make a socket is up to the folder.
func checkOwner(_, _ string) error { return nil }
