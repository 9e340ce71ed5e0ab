// Package loopback recognizes the addresses of this machine that no other machine can reach.
package loopback

import (
	"net"
	"strings"
)

// Is reports whether host, perhaps with a port, is localhost or a loopback address.
func Is(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}
