package models

import "strings"

// maxRequestID bounds the length of a request id in bytes.
const maxRequestID = 128

// SaneRequestID reports whether a client's X-Request-Id may stand in answers and
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

// tokenStart is how the header of a JSON Web Token begins: {" in base64url.
const tokenStart = "eyJ"

// HoldsTokenPart reports whether text, which may be cut short anywhere, may hold the
// beginning of a JSON Web Token, and so must not be logged (C4.25).
func HoldsTokenPart(text string) bool { return strings.Contains(text, tokenStart) }

// HoldsToken reports whether text may hold a JSON Web Token, and so must not be
// logged (C4.25): {" in base64url, and after it two dots.
func HoldsToken(text string) bool {
	_, rest, found := strings.Cut(text, tokenStart)
	return found && strings.Count(rest, ".") >= 2
}
