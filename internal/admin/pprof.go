package admin

import (
	"net/http"
	"net/http/pprof" // it registers its paths where nobody serves them
	runtimepprof "runtime/pprof"

	"plantstore/models"
)

// profilesPath is where the list of profiles is.
const profilesPath = "/debug/pprof/"

// addProfiles adds the profiles of the Go runtime to paths. The command line is
// left out, for a storage URL in it may hold a password (C4.25).
func addProfiles(paths map[string]http.HandlerFunc) {
	paths[profilesPath] = pprof.Index
	paths[profilesPath+"profile"] = inWords(pprof.Profile)
	paths[profilesPath+"trace"] = inWords(pprof.Trace)
	paths[profilesPath+"symbol"] = pprof.Symbol
	for _, profile := range runtimepprof.Profiles() {
		paths[profilesPath+profile.Name()] = inWords(pprof.Handler(profile.Name()).ServeHTTP)
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
