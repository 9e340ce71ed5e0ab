package auth

import (
	"encoding/asn1"
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

// minDER is the size in bytes of the smallest key, of Ed25519, and more than that of a usual
// secret: openssl rand -hex 32 encodes 32 bytes.
const minDER = 44

// isDER reports whether der is a sequence in DER, as all keys and certificates are.
func isDER(der []byte) bool {
	var elements []asn1.RawValue
	rest, err := asn1.Unmarshal(der, &elements)
	return err == nil && len(rest) == 0 && len(der) >= minDER
}
