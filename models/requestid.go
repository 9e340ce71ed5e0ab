package models

import (
	"crypto/rand"
	"strings"
)

// maxRequestID is the maximum length of a request id in bytes.
const maxRequestID = 128

// RequestID returns the X-Request-Id of the response to a request with these (C1.6): sent, if
// it is one id that may be used in responses and logs, else a random one.
func RequestID(sent []string) []string {
	if len(sent) == 1 && sane(sent[0]) {
		return sent
	}
	return []string{rand.Text()}
}

// sane reports whether id is 1 to 128 letters, digits and "-._~+/=:@", and no token (C4.25).
func sane(id string) bool {
	return id != "" && len(id) <= maxRequestID && !strings.ContainsFunc(id, insane) && !HoldsToken(id)
}

func insane(r rune) bool {
	switch {
	case 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return false
	default:
		return !strings.ContainsRune("-._~+/=:@", r)
	}
}
