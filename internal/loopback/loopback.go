// Package loopback recognizes addresses that are reachable from this machine only.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// IsHost reports whether host, perhaps with a port, is localhost or a loopback address. A server
// on a loopback address that accepts no other Host is safe from DNS rebinding, since requests of
// other sites' pages have the name of their site in Host.
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
