package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"plantstore/internal/loopback"
)

// UnixScheme is the prefix of an ADDR that is the path of a Unix socket.
const UnixScheme = "unix:"

// UnixPath returns the path in an ADDR that is a Unix socket.
func UnixPath(addr string) (path string, ok bool) { return strings.CutPrefix(addr, UnixScheme) }

func adminOptions() []Option {
	return []Option{
		{
			Env: "ADMIN_ADDR", Flag: "admin-addr", Default: "127.0.0.1:8081",
			Help: "`HOST:PORT` for /livez, /readyz and /metrics, or off",
			Set:  parsed(parseAdminAddr, func(c *Config) *string { return &c.AdminAddr }),
		},
		{
			Env: "PPROF", Flag: "pprof", Default: "off",
			Help: "`SWITCH` for Go profiles at /debug/pprof/, on loopback: on or off",
			Set:  parsed(parseBool, func(c *Config) *bool { return &c.Pprof }),
		},
	}
}

// parseAdminAddr returns the listen address; empty: none.
func parseAdminAddr(v string) (string, error) {
	if strings.EqualFold(v, off) {
		return "", nil
	}
	_, _, err := net.SplitHostPort(v)
	if _, socket := UnixPath(v); socket || err != nil {
		return "", errors.New("must be HOST:PORT, such as 127.0.0.1:8081 or :8081, or off")
	}
	return v, checkAddr(v)
}

// checkPprof returns an error if profiles are on and the admin listener is off, or can be
// reached by others, who could slow down the server with them.
func (c *Config) checkPprof() error {
	switch {
	case !c.Pprof:
		return nil
	case c.AdminAddr == "":
		return errors.New(`PPROF (--pprof): "on": ADMIN_ADDR (--admin-addr) is off, but it serves the profiles; ` +
			"give it an address, such as 127.0.0.1:8081, or set PPROF to off")
	case !loopback.Is(c.AdminAddr):
		return fmt.Errorf(`PPROF (--pprof): "on": others may reach ADMIN_ADDR (--admin-addr), %s, and could take profiles; `+
			"give it a loopback address, such as 127.0.0.1:8081, or set PPROF to off", c.AdminAddr)
	}
	return nil
}

// checkPorts returns an error if ADDR, or PORT, and ADMIN_ADDR have the same port and
// overlapping addresses. Listening would fail as if another program used the port.
func (c *Config) checkPorts() error {
	host, port, err := net.SplitHostPort(c.Addr)
	adminHost, adminPort, adminErr := net.SplitHostPort(c.AdminAddr)
	if err != nil || adminErr != nil || port != adminPort || port == "0" {
		return nil //nolint:nilerr // one of them is another kind of address
	}
	if host != adminHost && !includes(host, adminHost) && !includes(adminHost, host) {
		return nil
	}
	return fmt.Errorf("ADMIN_ADDR (--admin-addr): %q: ADDR, %s, has the same port; choose another one, or off", c.AdminAddr, c.Addr)
}

// includes reports whether a host means all addresses of the machine, and other may be one of them.
// 0.0.0.0 means those of IPv4.
func includes(host, other string) bool {
	ip := net.ParseIP(other)
	return anywhere(host) && (host != "0.0.0.0" || ip == nil || ip.To4() != nil)
}

// anywhere reports whether a host means all addresses of the machine.
func anywhere(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// DescribedByHost reports whether the description of a server that listens on addr has the Host of
// the request: clients of an ephemeral server, or of one on all interfaces, may be other machines.
func (c *Config) DescribedByHost(addr string, ephemeral bool) bool {
	host, _, err := net.SplitHostPort(addr)
	return c.BaseURL == "" && len(c.ACMEDomains) == 0 && (ephemeral || err == nil && anywhere(host))
}

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
