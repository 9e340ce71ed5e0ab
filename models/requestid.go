package models

import "strings"

// maxRequestID is the maximum length of a request id in bytes.
const maxRequestID = 128

// SaneRequestID reports whether a client's X-Request-Id may be used in responses and
// logs (C1.6): 1 to 128 letters, digits and "-._~+/=:@", and no token (C4.25).
func SaneRequestID(id string) bool {
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
