package models

import (
	"crypto/rand"
	"strings"
)

const (
	// maxRequestID is the maximum length of a request id in bytes.
	maxRequestID = 128
	// requestIDCharacters are the characters of a request id.
	requestIDCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=:@"
)

// RequestID returns the X-Request-Id of the response to a request with these (C1.6): sent, if
// it is one id that may be used in responses and logs, else a random one.
func RequestID(sent []string) []string {
	if len(sent) == 1 && sane(sent[0]) {
		return sent
	}
	return []string{rand.Text()}
}

// sane reports whether id is 1 to 128 of requestIDCharacters, and holds no token (C4.25).
func sane(id string) bool {
	return id != "" && len(id) <= maxRequestID && strings.Trim(id, requestIDCharacters) == "" && Redact(id) == id
}
