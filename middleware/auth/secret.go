package auth

import (
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"plantstore/models"
)

// ErrKeyAsSecret is returned for a key instead of a secret. Public keys are published, and
// anyone who has the secret can sign tokens.
var ErrKeyAsSecret = errors.New("it is a key or a certificate, not a secret: whoever knows it could sign tokens; " +
	"public keys belong in JWT_PUBLIC_KEYS; make a secret with: openssl rand -hex 32")

const (
	// minSecret is the minimum length in bytes of an HS256 key (RFC 7518, section 3.2; C4.24).
	minSecret = 32
	// minDER is the size in bytes of the smallest public key, of Ed25519, and more than openssl
	// rand -base64 32 encodes.
	minDER = 44
)

// A Secret is an HS256 key. It prints, logs and encodes as REDACTED (C4.25).
type Secret []byte

// Format implements [fmt.Formatter], for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, models.Redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (Secret) MarshalText() ([]byte, error) { return []byte(models.Redacted), nil }

// Check returns an error for a secret of less than 32 bytes, and for a key or a certificate.
func (s Secret) Check() error {
	if isKey(string(s)) {
		return ErrKeyAsSecret
	}
	if len(s) < minSecret {
		return fmt.Errorf("the secret is too weak: it has %d bytes, HS256 needs at least %d; make one with: openssl rand -hex 32", len(s), minSecret)
	}
	return nil
}

// isKey reports whether text is a key or a certificate: in PEM, a JWK or JWK Set, or DER, also
// in base64, as PEM has it between its first and last lines.
func isKey(text string) bool {
	decoded, _ := base64.StdEncoding.DecodeString(text) // it skips line ends
	return strings.Contains(text, "-----BEGIN ") || strings.Contains(text, `"kty"`) || isDER([]byte(text)) || isDER(decoded)
}

// isDER reports whether der is a sequence in DER, as all keys and certificates are.
func isDER(der []byte) bool {
	var elements []asn1.RawValue
	rest, err := asn1.Unmarshal(der, &elements)
	return err == nil && len(rest) == 0 && len(der) >= minDER
}
