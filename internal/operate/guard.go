package operate

import (
	"net"
	"net/http"
	"net/url"

	"plantstore/internal/loopback"
	"plantstore/models"
)

// guard returns an Error for a request that a page of another origin in a browser on this machine could
// cause: pages must neither read from a listener nor make it act. It returns nil for all others.
func guard(r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return models.NewError(models.CodeForbidden, "requests of pages of other origins are refused: open the address itself")
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Host != r.Host {
			return models.NewError(models.CodeForbidden, "requests of pages of other origins are refused: send no Origin")
		}
	}
	return guardHost(r)
}

// guardHost returns an Error for a name of another site that resolves to a loopback address (DNS
// rebinding).
func guardHost(r *http.Request) error {
	if overLoopback(r) && r.Host != "" && !loopback.Is(r.Host) { // HTTP/1.0 has no Host, and no browser speaks it
		return models.NewError(models.CodeForbidden, "over a loopback address, Host must be localhost or a loopback address, with any port")
	}
	return nil
}

// overLoopback reports whether a request was received on a loopback address.
func overLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback()
}
