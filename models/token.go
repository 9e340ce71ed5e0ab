package models

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// Redacted replaces values that must not be logged (C4.25).
const Redacted = "REDACTED"

// WithoutToken returns text, which may be truncated anywhere, or [Redacted] if it may contain
// the beginning of a JSON Web Token (C4.25).
func WithoutToken(text string) string {
	if tokenHeader(text) >= 0 {
		return Redacted
	}
	return text
}

// HoldsToken reports whether text may contain a JSON Web Token, which must not be
// logged (C4.25): a header, followed by at least two dots.
func HoldsToken(text string) bool {
	at := tokenHeader(text)
	return at >= 0 && strings.Count(text[at:], ".") >= 2
}

// tokenHeader returns the index in text at which a token's header may begin, or -1. A
// header is base64url of a JSON object, which may begin with white space.
func tokenHeader(text string) int {
	for i := range len(text) {
		switch text[i] {
		case 'e', 'I', 'C', 'D': // the first six bits of {, of a space, of a tab or LF, of CR
			if beginsObject(text[i:]) {
				return i
			}
		}
	}
	return -1
}

// headerLength is the number of base64url bytes that are decoded to detect a header, a
// multiple of 4.
const headerLength = 128

// blanks is the white space of JSON.
const blanks = " \t\n\r"

// beginsObject reports whether text begins with base64url of the beginning of a JSON
// object with a field. If headerLength bytes can't decide it, the result is true.
func beginsObject(text string) bool {
	length := 0
	for length < min(len(text), headerLength) && isBase64(text[length]) {
		length++
	}
	if length%4 == 1 { // 6 bits are less than a byte
		length--
	}
	var memory [headerLength / 4 * 3]byte
	n, err := base64.RawURLEncoding.Decode(memory[:], []byte(text[:length]))
	if err != nil {
		return false
	}
	cut := n == len(memory)
	rest := bytes.TrimLeft(memory[:n], blanks)
	if len(rest) == 0 || rest[0] != '{' {
		return len(rest) == 0 && cut
	}
	rest = bytes.TrimLeft(rest[1:], blanks)
	if len(rest) == 0 {
		return cut
	}
	return rest[0] == '"' && beginsField(rest[1:])
}

// beginsField reports whether text continues the name of a JSON field after its opening
// quotation mark. The text may be truncated anywhere.
func beginsField(text []byte) bool {
	for i := 0; i < len(text); {
		if !utf8.FullRune(text[i:]) {
			return true
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '"':
			rest := bytes.TrimLeft(text[i+1:], blanks)
			return len(rest) == 0 || rest[0] == ':'
		case r == '\\':
			size = min(2, len(text)-i)
		case r < ' ', r == utf8.RuneError && size == 1:
			return false
		}
		i += size
	}
	return true
}

// isBase64 reports whether c is in the alphabet of base64url.
func isBase64(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
