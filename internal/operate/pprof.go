package operate

import (
	"net/http"
	"net/http/pprof" // it registers its paths in a mux that this program does not serve
	runtimepprof "runtime/pprof"
	"strconv"

	"plantstore/models"
)

const (
	// profilesPath is the path of the list of profiles.
	profilesPath = "/debug/pprof/"
	// longestProfile is the maximum duration of a profile in seconds.
	longestProfile = 110
)

// profiles returns the endpoints of the profiles of the Go runtime, without the command line: a storage
// URL in it may contain a password (C4.25).
func profiles() []endpoint {
	all := []endpoint{profile("", pprof.Index), profile("profile", pprof.Profile), profile("trace", pprof.Trace), profile("symbol", pprof.Symbol)}
	for _, p := range runtimepprof.Profiles() {
		all = append(all, profile(p.Name(), pprof.Index))
	}
	return all
}

// profile returns the endpoint of a profile. It refuses one that takes longer than longestProfile: package
// pprof extends the time limits of the server for it.
func profile(name string, handler http.HandlerFunc) endpoint {
	return endpoint{"GET", profilesPath + name, Admin | Socket, func(_ *Operator, w *response, r *http.Request) error {
		for _, text := range r.URL.Query()["seconds"] {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil || !(seconds >= 0 && seconds <= longestProfile) { // NaN fails both comparisons
				return models.Errorf(models.CodeBadRequest, "the profile was refused: seconds: must be a number from 0 to %d", longestProfile)
			}
		}
		handler(w, r)
		return nil
	}}
}
