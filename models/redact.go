package models

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// Redacted replaces what may be a credential (C4.25).
const Redacted = "REDACTED"

const (
	// maxClientText is the maximum length of a [ClientText] in bytes.
	maxClientText = 255
	// minTokenHeader is the length of the shortest header of a token, {"alg":"HS256"}, in base64url.
	minTokenHeader = 20
	// MaxTokenHeader is the maximum size of the header of a token in bytes (C4.25a).
	MaxTokenHeader = 2 << 10
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

// RequestID returns the X-Request-Id of the response to a request with these (C1.6): sent, if it is one id
// that may be used in responses and logs (C4.25), else a random one.
func RequestID(sent []string) []string {
	const characters, most = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=:@", 128
	if len(sent) == 1 && sent[0] != "" && len(sent[0]) <= most && strings.Trim(sent[0], characters) == "" && Redact(sent[0]) == sent[0] {
		return sent
	}
	return []string{rand.Text()}
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
// show that it may be a credential, however it is escaped (C4.25).
func RedactField(name, value string) string {
	plain, unfolded := strings.ToLower(unescaped(value)), strings.Join(strings.Fields(value), "")
	if namesCredential(strings.ToLower(name)) || holdsCredential(plain) || hasUserinfo(value) || hasUserinfo(plain) || Redact(unfolded) != unfolded {
		return Redacted
	}
	return value
}

// namesCredential reports whether a name is one of a credential, or of a scheme.
func namesCredential(name string) bool {
	for _, word := range [...]string{"auth", "token", "key", "secret", "cookie", "password", "signature", "bearer", "basic"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// toWords makes words of a text, between spaces. = and & are words, too.
var toWords = strings.NewReplacer( //nolint:gochecknoglobals // never changed
	"=", " = ", ":", " = ", "&", " & ", "?", " ", "#", " ", ";", " ", ",", " ", "+", " ",
	`"`, " ", "'", " ", `\`, " ", "(", " ", ")", " ", "{", " ", "}", " ", "<", " ", ">", " ")

// holdsCredential reports whether a text in lower case has a word after a scheme, or a value after the name
// of a credential.
func holdsCredential(text string) bool {
	if !namesCredential(text) {
		return false // most texts, soon
	}
	named, value, scheme := false, false, false // about the words before
	for word := range strings.FieldsSeq(toWords.Replace(text)) {
		switch {
		case word == "=":
			value = value || named
		case word == "&":
			scheme = false
		case value || scheme:
			return true
		default:
			named, scheme = namesCredential(word), strings.HasSuffix(word, "bearer") || strings.HasSuffix(word, "basic")
		}
	}
	return false
}

// hasUserinfo reports whether a text has a URL with userinfo.
func hasUserinfo(text string) bool {
	_, text, _ = strings.Cut(text, "//")
	for part := range strings.SplitSeq(text, "//") {
		part = strings.TrimLeft(part, "/")
		if end := strings.IndexAny(part, "/?# \t\r\n"); end >= 0 {
			part = part[:end]
		}
		if strings.Contains(part, "@") {
			return true
		}
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
	text = text[max(0, len(text)-base64.RawURLEncoding.EncodedLen(MaxTokenHeader)):]
	for i := 0; i < 4 && i+minTokenHeader <= len(text); i++ { // other text may stand directly before it
		decoded, err := base64.RawURLEncoding.DecodeString(text[i:])
		_, object, found := bytes.Cut(bytes.TrimRight(decoded, " \t\r\n"), []byte("{"))
		if err == nil && found && bytes.HasSuffix(object, []byte("}")) && bytes.Contains(object, []byte(`"`)) {
			return true
		}
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
		for start, code := lastEscape(plain); len(code) == 1; start, code = lastEscape(plain) {
			plain = append(plain[:start], code...)
		}
	}
	return string(plain)
}

// lastEscape returns the escape at the end of text: its beginning, and its byte if there is one.
func lastEscape(text []byte) (start int, code []byte) {
	n := len(text)
	switch {
	case n >= 3 && text[n-3] == '%':
		start = n - 3
	case n >= 6 && string(text[n-6:n-2]) == `\u00`:
		start = len(bytes.TrimRight(text[:n-5], `\`))
	default:
		return 0, nil
	}
	code, _ = hex.DecodeString(string(text[n-2:]))
	return start, code
}
