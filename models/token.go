package models

import "regexp"

// Redacted replaces values that must not be logged (C4.25).
const Redacted = "REDACTED"

// jsonWebToken matches a JSON Web Token whose end may be cut off. The shortest header,
// {"alg":"HS256"}, has 20 characters in base64url, a payload at least 2, and a signature 43.
var jsonWebToken = regexp.MustCompile(`[\w-]{20,}\.[\w-]{2,}\.[\w-]{10,}`)

// maxClientText is the maximum length of a [ClientText] in bytes.
const maxClientText = 255

// lastWord matches what may be the beginning of a token at the end of a text.
var lastWord = regexp.MustCompile(`[\w.-]*$`)

// ClientText returns a text of a client for the log or an Error: at most its first 255 bytes, and
// without a token (C4.25). Clients may send 16 KiB, which take long to search.
func ClientText(text string) string {
	const cut = "…"
	if len(text) > maxClientText {
		text = lastWord.ReplaceAllLiteralString(text[:maxClientText-len(cut)], cut)
	}
	return WithoutToken(text)
}

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
