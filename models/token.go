package models

import "regexp"

// Redacted replaces values that must not be logged (C4.25).
const Redacted = "REDACTED"

// jsonWebToken matches a JSON Web Token whose end may be cut off. The shortest header,
// {"alg":"HS256"}, has 20 characters in base64url, a payload at least 2, and a signature 43.
var jsonWebToken = regexp.MustCompile(`[\w-]{20,}\.[\w-]{2,}\.[\w-]{10,}`)

// WithoutToken returns text, or [Redacted] if it may contain a JSON Web Token (C4.25).
func WithoutToken(text string) string {
	if HoldsToken(text) {
		return Redacted
	}
	return text
}

// RedactTokens returns text with [Redacted] in the place of each JSON Web Token (C4.25).
func RedactTokens(text string) string { return jsonWebToken.ReplaceAllString(text, Redacted) }

// HoldsToken reports whether text may contain a JSON Web Token, which must not be logged (C4.25).
func HoldsToken(text string) bool { return jsonWebToken.MatchString(text) }
