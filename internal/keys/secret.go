// Package keys has what signs tokens, and reads and generates the files of secrets.
package keys

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plantstore/internal/files"
	"plantstore/middleware/auth"
)

// ReadSecrets returns the secrets in a file, one on each line. The first signs tokens; all of them
// verify tokens. Empty lines are skipped. It fails as [auth.Secret.Check] and read do, which is
// [files.ReadSecret] or [files.ReadGenerated].
func ReadSecrets(path string, read func(path string) ([]byte, error)) (secrets []auth.Secret, err error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
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

// Generate creates the file path with a new secret, and its directory with the mode perm, and reports
// whether it did: an existing file is kept. Of concurrent processes, one creates it.
func Generate(path string, perm fs.FileMode) (made bool, err error) {
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	if err := files.MkdirAll(filepath.Dir(path), perm); err != nil {
		return false, err
	}
	err = files.CreateSecret(path, append(NewSecret(), '\n'))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// NewSecret returns 32 random bytes in hexadecimal.
func NewSecret() auth.Secret {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return auth.Secret(hex.EncodeToString(key))
}
