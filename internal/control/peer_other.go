//go:build !linux && !darwin

package control

import "net"

// checkPeer returns nil: only the permissions of the directory protect the socket.
func checkPeer(net.Conn, string, string) error { return nil }
