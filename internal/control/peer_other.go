//go:build !linux && !darwin

package control

import "net"

// checkPeer returns nil: here the directory decides who may create a socket in it.
func checkPeer(net.Conn, string, string) error { return nil }
