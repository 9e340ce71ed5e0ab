// Package loopback recognizes the addresses that only this machine reaches.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// IsHost reports whether host, perhaps with a port, is localhost or a loopback address. A
// server on a loopback address that accepts no other Host is safe from DNS rebinding: pages
// of other sites reach it under the name of their site only.
func IsHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
