package config

import (
	"net"
	"net/url"
	"strings"
)

// ServiceURL returns the URL for clients of a server that listens on addr.
func (c *Config) ServiceURL(addr string) string {
	if c.BaseURL != "" {
		return strings.TrimRight(c.BaseURL, "/")
	}
	scheme := "http"
	if c.TLS() {
		scheme = "https"
	}
	if _, ok := UnixPath(addr); ok {
		return scheme + "://localhost" // the server accepts any host
	}
	if _, port, err := net.SplitHostPort(addr); err == nil && len(c.ACMEDomains) > 0 {
		addr = net.JoinHostPort(c.ACMEDomains[0], port)
	}
	base := LocalURL(scheme, addr)
	if c.TLS() {
		base = strings.TrimSuffix(base, ":443")
	}
	return base
}

// LocalURL returns the URL for this machine of a server that listens on addr.
func LocalURL(scheme, addr string) string {
	host, port, _ := net.SplitHostPort(addr) // addr is valid
	if anywhere(host) {
		host = "localhost"
	}
	base := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)} // escapes IPv6 zones
	return base.String()
}
