package server

import (
	"net/http"

	"plantstore/models"
)

// Refuse makes the server respond as if it had refused the request before any handler, and
// returns the Error. Preference-Applied gets the value applied (RFC 7240). Handlers call it
// instead of writing a response; w may wrap the writer that they got.
func Refuse(w http.ResponseWriter, code models.Code, applied string) *models.Error {
	for {
		switch writer := w.(type) {
		case *response:
			to := recipientOf(writer.request)
			to.id, to.applied = w.Header().Get("X-Request-Id"), applied
			writer.refusal = writer.server.config.responseError(code)
			writer.to = to
			return writer.refusal
		case interface{ Unwrap() http.ResponseWriter }:
			w = writer.Unwrap()
		default:
			panic("the request is not of this server")
		}
	}
}
