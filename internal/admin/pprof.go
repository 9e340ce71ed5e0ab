package admin

import (
	"net/http"
	"net/http/pprof" // it registers its paths where nobody serves them
	runtimepprof "runtime/pprof"
	"strconv"
	"time"

	"plantstore/models"
)

// profilesPath is where the list of profiles is.
const profilesPath = "/debug/pprof/"

// addProfiles adds the profiles of the Go runtime to paths. The command line is
// left out, for a storage URL in it may hold a password (C4.25).
func addProfiles(paths map[string]http.HandlerFunc, longest time.Duration) {
	paths[profilesPath] = pprof.Index
	paths[profilesPath+"profile"] = within(longest, pprof.Profile)
	paths[profilesPath+"trace"] = within(longest, pprof.Trace)
	paths[profilesPath+"symbol"] = pprof.Symbol
	for _, profile := range runtimepprof.Profiles() {
		paths[profilesPath+profile.Name()] = within(longest, pprof.Handler(profile.Name()).ServeHTTP)
	}
}

// within refuses a profile that is to take longer. A trace writes all the time, so
// that no time-out of a connection that rests would end it.
func within(longest time.Duration, handler http.HandlerFunc) http.HandlerFunc {
	handler = inWords(handler)
	return func(w http.ResponseWriter, r *http.Request) {
		for _, text := range r.URL.Query()["seconds"] {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil || !(seconds >= 0 && seconds <= longest.Seconds()) { // NaN is neither
				fail(w, models.Errorf(models.CodeBadRequest, "the profile was refused: seconds: must be a number from 0 to %.0f", longest.Seconds()))
				return
			}
		}
		handler(w, r)
	}
}

// inWords makes an Error of a refusal of handler, which writes plain text.
func inWords(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		refused := &refusal{ResponseWriter: w}
		handler(refused, r)
		if refused.status == 0 {
			return
		}
		header := w.Header()
		header.Del("X-Go-Pprof")
		header.Del("Content-Disposition")
		header.Del("Content-Encoding")
		code := models.CodeInternal
		if refused.status < http.StatusInternalServerError {
			code = models.CodeBadRequest
		}
		fail(w, models.Errorf(code, "the profile was refused: %s", refused.text))
	}
}

// A refusal is a writer that keeps back an answer with an error status.
type refusal struct {
	http.ResponseWriter

	status int // 0: it is no refusal
	text   []byte
}

// WriteHeader implements [http.ResponseWriter].
func (r *refusal) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		r.status = status
		return
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements [io.Writer].
func (r *refusal) Write(p []byte) (int, error) {
	if r.status == 0 {
		return r.ResponseWriter.Write(p)
	}
	r.text = append(r.text, p...)
	return len(p), nil
}
