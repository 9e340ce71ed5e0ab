package auth

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
)

// isKey reports whether text is a key or a certificate rather than a secret. It detects
// PEM, JWK, JWK Set and SSH keys, also in UTF-16, and DER; all of them also in base64
// or hexadecimal.
func isKey(text string) bool {
	compact := strings.Join(strings.Fields(text), "")
	forms := append(decodings(compact), []byte(text), []byte(strings.TrimRight(text, "\r\n")))
	return slices.ContainsFunc(forms, func(form []byte) bool { return hasKeyForm(string(form)) || isDER(form) })
}

// hasKeyForm reports whether text has the syntax of a key.
func hasKeyForm(text string) bool {
	text = strings.NewReplacer("\x00", "", "\xff\xfe", "", "\xfe\xff", "").Replace(text) // of UTF-16
	text = strings.TrimLeftFunc(strings.TrimPrefix(text, "\ufeff"), unicode.IsSpace)
	unescaped := strings.NewReplacer(`\`, "", "'", `"`).Replace(text) // JSON within JSON, or as Python prints it
	switch {
	case strings.Contains(text, "-----BEGIN"), strings.Contains(text, "---- BEGIN"): // the latter of SSH2
		return true
	case strings.Contains(unescaped, `"kty"`):
		return true
	case strings.HasPrefix(text, "{") && strings.Contains(text, `"keys"`):
		return true
	}
	kinds := []string{"ssh-rsa ", "ssh-ed25519 ", "ssh-dss ", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"}
	return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(text, kind) })
}

// decodings returns the bytes that text may encode in base64, base64url or hexadecimal.
func decodings(text string) (all [][]byte) {
	bare := strings.TrimRight(text, "=")
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if decoded, err := encoding.DecodeString(bare); err == nil {
			all = append(all, decoded)
		}
	}
	if decoded, err := hex.DecodeString(text); err == nil {
		all = append(all, decoded)
	}
	return all
}

// isDER reports whether der is a key or a certificate in DER.
func isDER(der []byte) bool {
	parsers := []func([]byte) error{
		func(b []byte) error { _, err := x509.ParsePKIXPublicKey(b); return err },
		func(b []byte) error { _, err := x509.ParsePKCS1PublicKey(b); return err },
		func(b []byte) error { _, err := x509.ParseCertificate(b); return err },
		func(b []byte) error { _, err := x509.ParsePKCS8PrivateKey(b); return err },
		func(b []byte) error { _, err := x509.ParsePKCS1PrivateKey(b); return err },
		func(b []byte) error { _, err := x509.ParseECPrivateKey(b); return err },
	}
	return len(der) > 0 && der[0] == 0x30 &&
		slices.ContainsFunc(parsers, func(parse func([]byte) error) bool { return parse(der) == nil })
}
