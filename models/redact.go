package models

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
)

// Redacted replaces what may be a credential (C4.25).
const Redacted = "REDACTED"

const (
	// maxClientText is the maximum length of a [ClientText] in bytes.
	maxClientText = 255
	// minTokenHeader and maxTokenHeader bound the header of a token in base64url. The shortest is
	// {"alg":"HS256"}.
	minTokenHeader = 20
	maxTokenHeader = 2 << 10
)

// ClientText returns a text of a client or an issuer for the log or an Error: at most its first 255
// bytes, and without tokens (C4.25).
func ClientText(text string) string {
	const cut = "…"
	if len(text) > maxClientText {
		text = text[:maxClientText-len(cut)] + cut
	}
	return Redact(text)
}

// CredentialScheme returns the scheme of the value of Authorization, as IANA has registered it, or "".
// Other text may be the credential itself.
func CredentialScheme(value string) string {
	sent, _, _ := strings.Cut(value, " ")
	for scheme := range strings.FieldsSeq("Basic Bearer Concealed Digest DPoP GNAP HOBA Mutual Negotiate OAuth PrivateToken SCRAM-SHA-1 SCRAM-SHA-256 vapid") {
		if strings.EqualFold(sent, scheme) {
			return scheme
		}
	}
	return ""
}

// RedactField returns the value of a header field or another named text, or [Redacted] if name or value
// show that it may be a credential (C4.25).
func RedactField(name, value string) string {
	if namesCredential(strings.ToLower(name)) || holdsCredential(strings.ToLower(value)) || Redact(value) != value {
		return Redacted
	}
	return value
}

func namesCredential(name string) bool {
	for part := range strings.FieldsSeq("auth token key secret cookie password signature bearer basic") {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// holdsCredential reports whether a text has a word after a scheme, a parameter with the name of a
// credential, or a URL with userinfo.
func holdsCredential(text string) bool {
	scheme := false // whether the word before is one
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("&;?, \t", r) }) {
		name, value := word, ""
		if i := strings.IndexAny(word, "=:"); i >= 0 {
			name, value = word[:i], word[i+1:]
		}
		_, rest, _ := strings.Cut(word, "//")
		authority, _, _ := strings.Cut(rest, "/")
		if scheme || value != "" && namesCredential(name) || strings.Contains(authority, "@") {
			return true
		}
		scheme = name == "bearer" || name == "basic"
	}
	return false
}

// Redact returns text with [Redacted] in the place of each JSON Web Token (C4.25), or only that if
// escapes of URLs or JSON hide one.
func Redact(text string) string {
	text = redactTokens(text)
	if plain := unescaped(text); redactTokens(plain) != plain {
		return Redacted
	}
	return text
}

// redactTokens is Redact for a text without escapes. A token may be cut off, and text may stand
// directly before it.
func redactTokens(text string) string {
	var b strings.Builder
	rest := text // of text
	for i := 0; ; {
		length := strings.IndexByte(rest[i:], '.')
		if length < 0 {
			break
		}
		dot := i + length
		start := len(strings.TrimRightFunc(rest[i:dot], isBase64URL)) + i
		i = dot + 1
		if endsInObject(rest[start:dot]) {
			b.WriteString(rest[:start] + Redacted)
			rest, i = strings.TrimLeftFunc(rest[dot:], func(r rune) bool { return r == '.' || isBase64URL(r) }), 0
		}
	}
	if b.Len() == 0 {
		return text
	}
	return b.String() + rest
}

func isBase64URL(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_'
}

// endsInObject reports whether a text in base64url ends in a JSON object, as the header of a token is.
func endsInObject(text string) bool {
	text = text[max(0, len(text)-maxTokenHeader):]
	for range 4 { // other text may stand directly before it
		if len(text) < minTokenHeader {
			break
		}
		decoded, err := base64.RawURLEncoding.DecodeString(text)
		decoded = bytes.TrimRight(decoded, " \t\r\n")
		_, object, found := bytes.Cut(decoded, []byte("{"))
		if err == nil && found && bytes.HasSuffix(object, []byte("}")) && bytes.Contains(object, []byte(`"`)) {
			return true
		}
		text = text[1:]
	}
	return false
}

// unescaped returns text without the escapes of URLs, such as %2e, and of JSON, such as \u002e, however
// often they are nested.
func unescaped(text string) string {
	if !strings.ContainsAny(text, `%\`) {
		return text
	}
	plain := make([]byte, 0, len(text))
	for i := range len(text) {
		plain = append(plain, text[i])
		for start, code := lastEscape(plain); start >= 0; start, code = lastEscape(plain) {
			plain = append(plain[:start], code)
		}
	}
	return string(plain)
}

// lastEscape returns the escape at the end of text, as its beginning, which is negative if there is
// none, and its byte.
func lastEscape(text []byte) (start int, code byte) {
	n := len(text)
	switch {
	case n >= 3 && text[n-3] == '%':
		start = n - 3
	case n >= 6 && string(text[n-6:n-2]) == `\u00`:
		start = len(bytes.TrimRight(text[:n-5], `\`))
	default:
		return -1, 0
	}
	number, err := strconv.ParseUint(string(text[n-2:]), 16, 8)
	if err != nil {
		return -1, 0
	}
	return start, byte(number)
}
