//go:build !linux && !darwin

package control

import "net"

// checkPeer returns nil: the permissions of the directory have to suffice.
func checkPeer(net.Conn, string, string) error { return nil }
