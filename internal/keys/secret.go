// Package keys has what signs tokens, and reads and generates the files of secrets.
package keys

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"plantstore/internal/files"
	"plantstore/middleware/auth"
)

// newBytes is the number of random bytes of a generated secret.
const newBytes = 32

// ReadSecrets returns the secrets in a file, one on each line. The first signs tokens; all
// of them verify tokens. Empty lines are skipped. It fails as [auth.Secret.Check] and
// [files.ReadSecret] do.
func ReadSecrets(path string) ([]auth.Secret, error) {
	text, err := files.ReadSecret(path)
	if err != nil {
		return nil, err
	}
	return parseSecrets(path, text)
}

// ReadGenerated is [ReadSecrets] for a file of [EnsureSecrets], with the checks of
// [files.ReadGenerated].
func ReadGenerated(path string) ([]auth.Secret, error) {
	text, err := files.ReadGenerated(path)
	if err != nil {
		return nil, err
	}
	return parseSecrets(path, text)
}

func parseSecrets(path string, text []byte) (secrets []auth.Secret, err error) {
	if err := auth.Secret(text).Check(); errors.Is(err, auth.ErrKeyAsSecret) { // it may have several lines
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		secret := auth.Secret(strings.TrimSuffix(line, "\r"))
		if len(secret) == 0 {
			continue
		}
		if err := secret.Check(); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, i+1, err)
		}
		secrets = append(secrets, secret)
	}
	if secrets == nil {
		return nil, fmt.Errorf("%s: the file is empty", path)
	}
	return secrets, nil
}

// EnsureSecrets returns the secrets in a file, and whether it has created the file. A new
// file has 32 random bytes in hexadecimal and is readable only by its owner. Concurrent
// processes get the same secret. It fails as [ReadGenerated] for a file that other users can
// change or read.
func EnsureSecrets(path string) (secrets []auth.Secret, made bool, err error) {
	secrets, err = ReadGenerated(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secrets, false, err
	}
	err = files.CreateSecret(path, append(NewSecret(), '\n'))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, false, err
	}
	made = err == nil
	secrets, err = ReadGenerated(path)
	return secrets, made, err
}

// NewSecret returns 32 random bytes in hexadecimal.
func NewSecret() auth.Secret {
	key := make([]byte, newBytes)
	_, _ = rand.Read(key) // never fails
	return auth.Secret(hex.EncodeToString(key))
}

// ReadPublic returns the public keys in a file, as [auth.ParseKeys] does. It fails as that and
// [files.ReadPublic] do.
func ReadPublic(path string) (public []auth.Key, ignored []error, err error) {
	text, err := files.ReadPublic(path)
	if err != nil {
		return nil, nil, err
	}
	public, ignored, err = auth.ParseKeys(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return public, ignored, nil
}
