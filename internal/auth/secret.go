package auth

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"plantstore/internal/durable"
)

// ErrWeakSecret is the error of a secret that is too short.
var ErrWeakSecret = errors.New("the secret is too weak")

// minSecret is the least number of bytes of an HS256 key (RFC 7518, section
// 3.2; C4.24).
const minSecret = 32

// secretPerm keeps a secret from everybody but its owner.
const secretPerm fs.FileMode = 0o600

// Redacted stands for a secret wherever one would be printed (C4.25).
const Redacted = "REDACTED"

// A Secret is an HS256 key. Printed, logged or encoded it reads REDACTED (C4.25).
type Secret []byte

// Format implements [fmt.Formatter], for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// LogValue implements [slog.LogValuer].
func (Secret) LogValue() slog.Value { return slog.StringValue(Redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (Secret) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// ParseSecret returns the secret that text is, byte for byte. It refuses one of
// less than 32 bytes.
func ParseSecret(text string) (Secret, error) {
	if len(text) < minSecret {
		return nil, fmt.Errorf("%w: it has %d bytes, HS256 needs at least %d; "+
			"make one with: openssl rand -hex 32", ErrWeakSecret, len(text), minSecret)
	}
	return Secret(text), nil
}

// ReadSecrets returns the secrets in a file, one a line: the first signs tokens, and
// tokens by any of them are accepted. Empty lines are skipped, and so is a byte order mark
// at the beginning of the file, in UTF-8.
func ReadSecrets(path string) ([]Secret, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, err
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
		return nil, fmt.Errorf("%s: %w: the file is empty", path, ErrWeakSecret)
	}
	return secrets, nil
}

// EnsureSecrets returns the secrets in a file, which it makes first if it is not
// there, and says so: 32 random bytes in hexadecimal, readable by the owner only. Of
// several processes that do so at once, all get the same secret.
func EnsureSecrets(path string) (secrets []Secret, made bool, err error) {
	secrets, err = ReadSecrets(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secrets, false, err
	}
	err = durable.Create(path, secretPerm, func(tmp string) error {
		return os.WriteFile(tmp, []byte(newSecret()+"\n"), secretPerm)
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, false, err
	}
	made = err == nil
	secrets, err = ReadSecrets(path)
	return secrets, made, err
}

// newSecret returns 32 random bytes in hexadecimal.
func newSecret() string {
	key := make([]byte, minSecret)
	_, _ = rand.Read(key) // never fails
	return hex.EncodeToString(key)
}
