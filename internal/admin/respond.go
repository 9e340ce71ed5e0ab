package admin

import (
	"crypto/rand"
	"net/http"
	"strconv"

	"plantstore/models"
)

// requestID returns the request id of the client if it is valid, else a new one (C1.6).
func requestID(r *http.Request) string {
	if ids := r.Header["X-Request-Id"]; len(ids) == 1 && models.SaneRequestID(ids[0]) {
		return ids[0]
	}
	return rand.Text()
}

func fail(w http.ResponseWriter, failure *models.Error) {
	write(w, http.StatusBadRequest, "application/json", failure.Body())
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // best effort: the client is gone
}
