package admin

import (
	"net/http"
	"strconv"

	"plantstore/models"
)

func fail(w http.ResponseWriter, failure *models.Error) {
	write(w, http.StatusBadRequest, "application/json", failure.Body())
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // best effort: the client is gone
}
