package apidocs

import (
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
)

// For returns the description for a request: that of the server at the Host of the request, if
// [New] got no URL and that is a host name or an address, else d. A proxy that terminates TLS sets
// X-Forwarded-Proto.
func (d *Description) For(r *http.Request) *Description {
	if !d.byHost || !isHost(r.Host) {
		return d
	}
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	at, err := New(scheme + "://" + r.Host)
	if err != nil {
		return d
	}
	return at
}

// hostName matches the names of hosts, also those with underscores in private networks.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([\w.-]*\w)?$`)

// isHost reports whether text is a host name or an IP address, with or without a port.
func isHost(text string) bool {
	if len(text) > 255 {
		return false
	}
	u, err := url.Parse("http://" + text)
	if err != nil || u.Host != text {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err == nil || hostName.MatchString(u.Hostname())
}
