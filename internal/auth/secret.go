package auth

import (
	"crypto/rand"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"plantstore/internal/files"
	"plantstore/models"
)

// Errors of texts that are rejected as secrets.
var (
	// errWeakSecret is returned for a secret that is too short.
	errWeakSecret = errors.New("the secret is too weak")
	// errKeyAsSecret is returned for a key instead of a secret. Public keys are published, and
	// anyone who has the secret can sign tokens.
	errKeyAsSecret = errors.New("it is a key or a certificate, not a secret: whoever knows it could sign tokens; " +
		"name files with public keys in JWT_PUBLIC_KEYS, or make a secret with: openssl rand -hex 32")
)

// minSecret is the minimum length in bytes of an HS256 key (RFC 7518, section 3.2;
// C4.24).
const minSecret = 32

// A Secret is an HS256 key. It prints, logs and encodes as REDACTED (C4.25).
type Secret []byte

// Format implements [fmt.Formatter], for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, models.Redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (Secret) MarshalText() ([]byte, error) { return []byte(models.Redacted), nil }

// ParseSecret returns text as a secret, byte for byte. It fails for less than 32 bytes, and
// for a key or a certificate.
func ParseSecret(text string) (Secret, error) {
	if isKey(text) {
		return nil, errKeyAsSecret
	}
	if len(text) < minSecret {
		return nil, fmt.Errorf("%w: it has %d bytes, HS256 needs at least %d; "+
			"make one with: openssl rand -hex 32", errWeakSecret, len(text), minSecret)
	}
	return Secret(text), nil
}

// isKey reports whether text is a key or a certificate: in PEM, a JWK or JWK Set, or DER, also
// in base64, as PEM has it between its first and last lines.
func isKey(text string) bool {
	decoded, _ := base64.StdEncoding.DecodeString(text) // it skips line ends
	return strings.Contains(text, "-----BEGIN ") || strings.Contains(text, `"kty"`) || isDER([]byte(text)) || isDER(decoded)
}

// minDER is the size in bytes of the smallest public key, of Ed25519, and more than openssl
// rand -base64 32 encodes.
const minDER = 44

// isDER reports whether der is a sequence in DER, as all keys and certificates are.
func isDER(der []byte) bool {
	var elements []asn1.RawValue
	rest, err := asn1.Unmarshal(der, &elements)
	return err == nil && len(rest) == 0 && len(der) >= minDER
}

// ReadSecrets returns the secrets in a file, one on each line. The first signs tokens; all
// of them verify tokens. Empty lines are skipped. It fails as [ParseSecret] and
// [files.ReadSecret] do.
func ReadSecrets(path string) ([]Secret, error) {
	text, err := files.ReadSecret(path)
	if err != nil {
		return nil, err
	}
	return parseSecrets(path, text)
}

// ReadGenerated is [ReadSecrets] for a file of [EnsureSecrets], with the checks of
// [files.ReadGenerated].
func ReadGenerated(path string) ([]Secret, error) {
	text, err := files.ReadGenerated(path)
	if err != nil {
		return nil, err
	}
	return parseSecrets(path, text)
}

func parseSecrets(path string, text []byte) ([]Secret, error) {
	if isKey(string(text)) { // a key may have several lines
		return nil, fmt.Errorf("%s: %w", path, errKeyAsSecret)
	}
	var secrets []Secret
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSuffix(line, "\r"); line == "" {
			continue
		}
		secret, err := ParseSecret(line)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, i+1, err)
		}
		secrets = append(secrets, secret)
	}
	if err := checkCount(len(secrets)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if secrets == nil {
		return nil, fmt.Errorf("%s: %w: the file is empty", path, errWeakSecret)
	}
	return secrets, nil
}

// EnsureSecrets returns the secrets in a file, and whether it has created the file. A new
// file has 32 random bytes in hexadecimal and is readable only by its owner. Concurrent
// processes get the same secret. It fails as [ReadGenerated] for a file that other users can
// change or read.
func EnsureSecrets(path string) (secrets []Secret, made bool, err error) {
	secrets, err = ReadGenerated(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secrets, false, err
	}
	err = files.Create(path, func(file *os.File) error {
		_, err := file.WriteString(string(NewSecret()) + "\n")
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, false, err
	}
	made = err == nil
	secrets, err = ReadGenerated(path)
	return secrets, made, err
}

// NewSecret returns 32 random bytes in hexadecimal.
func NewSecret() Secret {
	key := make([]byte, minSecret)
	_, _ = rand.Read(key) // never fails
	return Secret(hex.EncodeToString(key))
}
