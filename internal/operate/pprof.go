package operate

import (
	"net/http"
	"net/http/pprof" // it registers its paths in a mux that this program does not serve
	runtimepprof "runtime/pprof"
)

// profilesPath is the path of the list of profiles.
const profilesPath = "/debug/pprof/"

// profiles returns the endpoints of the profiles of the Go runtime, without the command line: a storage
// URL in it may contain a password (C4.25).
func profiles() []endpoint {
	all := []endpoint{profile("", pprof.Index), profile("profile", pprof.Profile), profile("trace", pprof.Trace), profile("symbol", pprof.Symbol)}
	for _, p := range runtimepprof.Profiles() {
		all = append(all, profile(p.Name(), pprof.Index))
	}
	return all
}

func profile(name string, handler http.HandlerFunc) endpoint {
	return endpoint{getOrHead, profilesPath + name, Admin | Socket, func(_ *Operator, w *response, r *http.Request) error {
		handler(w, r)
		return nil
	}}
}
