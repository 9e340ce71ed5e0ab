package admin

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

// addProfiles adds the profiles of the Go runtime to paths, without the command line: a storage
// URL in it may contain a password (C4.25).
func addProfiles(paths map[string]http.HandlerFunc) {
	paths[profilesPath] = pprof.Index
	paths[profilesPath+"profile"] = bounded(pprof.Profile)
	paths[profilesPath+"trace"] = bounded(pprof.Trace)
	paths[profilesPath+"symbol"] = pprof.Symbol
	for _, profile := range runtimepprof.Profiles() {
		paths[profilesPath+profile.Name()] = bounded(pprof.Index)
	}
}

// bounded refuses a profile that takes longer than longestProfile: package pprof extends the
// time limits of the server for it.
func bounded(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, text := range r.URL.Query()["seconds"] {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil || !(seconds >= 0 && seconds <= longestProfile) { // NaN fails both comparisons
				fail(w, models.Errorf(models.CodeBadRequest, "the profile was refused: seconds: must be a number from 0 to %d", longestProfile))
				return
			}
		}
		handler(w, r)
	}
}
