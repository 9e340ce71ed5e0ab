package admin

import (
	"net/http"
	"net/http/pprof" // it registers its paths in a mux that this program does not serve
	runtimepprof "runtime/pprof"
	"strconv"
	"time"

	"plantstore/models"
)

// profilesPath is the path of the list of profiles.
const profilesPath = "/debug/pprof/"

// addProfiles adds the profiles of the Go runtime to paths, without the command line: a storage
// URL in it may contain a password (C4.25).
func addProfiles(paths map[string]http.HandlerFunc, longest time.Duration) {
	paths[profilesPath] = pprof.Index
	paths[profilesPath+"profile"] = within(longest, pprof.Profile)
	paths[profilesPath+"trace"] = within(longest, pprof.Trace)
	paths[profilesPath+"symbol"] = pprof.Symbol
	for _, profile := range runtimepprof.Profiles() {
		paths[profilesPath+profile.Name()] = within(longest, pprof.Handler(profile.Name()).ServeHTTP)
	}
}

// within refuses a profile that takes longer: no idle time-out would end a trace, which writes
// all the time. It turns error responses of handler, which are plain text, into Errors.
func within(longest time.Duration, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, text := range r.URL.Query()["seconds"] {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil || !(seconds >= 0 && seconds <= longest.Seconds()) { // NaN fails both comparisons
				fail(w, models.Errorf(models.CodeBadRequest, "the profile was refused: seconds: must be a number from 0 to %.0f", longest.Seconds()))
				return
			}
		}
		held := &errorHolder{ResponseWriter: w}
		handler(held, r)
		if held.status == 0 {
			return
		}
		header := w.Header()
		header.Del("X-Go-Pprof")
		header.Del("Content-Disposition")
		header.Del("Content-Encoding")
		code := models.CodeInternal
		if held.status < http.StatusInternalServerError {
			code = models.CodeBadRequest
		}
		fail(w, models.Errorf(code, "the profile was refused: %s", held.text))
	}
}

// An errorHolder is a writer that holds back a response with an error status.
type errorHolder struct {
	http.ResponseWriter

	status int // 0: not an error
	text   []byte
}

func (h *errorHolder) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		h.status = status
		return
	}
	h.ResponseWriter.WriteHeader(status)
}

func (h *errorHolder) Write(p []byte) (int, error) {
	if h.status == 0 {
		return h.ResponseWriter.Write(p)
	}
	h.text = append(h.text, p...)
	return len(p), nil
}
