package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"

	"plantstore/internal/atomicfile"
	"plantstore/internal/auth"
	"plantstore/internal/config"
	"plantstore/internal/secretfile"
	"plantstore/storage"
)

// dirPerm is the mode of the directory of a database, if it is created.
const dirPerm = 0o750

// A keyring is what a server verifies tokens with. It is loaded anew on SIGHUP.
type keyring struct {
	config   *config.Config
	logger   *slog.Logger
	report   secretfile.Report
	verifier *auth.Verifier
	issuer   *auth.Issuer // nil without JWT_JWKS_URL
	lost     string       // the secret that was made beside plants that were there; else empty
}

// warn says so if the secret is new, and the plants are not.
func (k *keyring) warn() {
	if k.lost != "" {
		k.logger.Warn("a new secret was made, beside plants that were there: tokens that were signed with another one are refused", "file", k.lost)
	}
}

// openKeyring loads all keys that are configured. It may make a secret.
func openKeyring(ctx context.Context, c *config.Config, store *storage.Store, logger *slog.Logger) (*keyring, error) {
	k := &keyring{config: c, logger: logger, report: logExposed(logger), verifier: auth.NewVerifier(auth.Options{
		Issuer:     c.JWTIssuer,
		Audience:   c.JWTAudience,
		Scope:      c.JWTScope,
		RequireExp: c.JWTRequireExp,
		Leeway:     c.JWTLeeway,
	})}
	made, err := k.load(ensureSecrets)
	if err != nil {
		return nil, err
	}
	if made != "" && !empty(ctx, store) {
		k.lost = made
	}
	if c.JWTJWKSURL == "" {
		return k, nil
	}
	k.issuer = auth.NewIssuer(c.JWTJWKSURL, k.verifier, logger)
	if err := k.reloadIssuer(ctx); err != nil {
		return nil, err
	}
	return k, nil
}

// empty reports whether a store has no plant.
func empty(ctx context.Context, store *storage.Store) bool {
	for _, err := range store.List(ctx, math.MinInt64) {
		return err != nil // then it is not known, and nothing is said
	}
	return true
}

// verify is what the bearer middleware asks about a token.
func (k *keyring) verify(token string) (subject string, err error) {
	claims, err := k.verifier.Verify(token)
	if err != nil {
		return "", err
	}
	return claims.Subject, nil
}

// reload reads the files anew. If any is wrong or gone, all keys stay as they were.
func (k *keyring) reload(context.Context) error {
	_, err := k.load(keepSecrets)
	return err
}

// load reads the files, that of the secret beside the database by beside. If that one
// was made, it returns its path.
func (k *keyring) load(beside secretsFunc) (made string, err error) {
	secrets, made, err := loadSecrets(k.config, beside, k.report)
	if err != nil {
		return "", err
	}
	public, left, err := ReadPublicKeys(k.config)
	if err != nil {
		return "", err
	}
	for _, reason := range left {
		k.logger.Warn("a public key is left out", "cause", reason.Error())
	}
	var keys []auth.Key
	for _, secret := range secrets {
		keys = append(keys, secret.Key())
	}
	k.verifier.SetKeys(append(keys, public...))
	return made, nil
}

// reloadIssuer fetches the keys of the issuer, if there is one. It may be down while
// a file has to be reloaded, so this is another matter.
func (k *keyring) reloadIssuer(ctx context.Context) error {
	if k.issuer == nil {
		return nil
	}
	if err := k.issuer.Fetch(ctx); err != nil {
		return fmt.Errorf("JWT_JWKS_URL: %w", err)
	}
	return nil
}

// watch keeps the keys of the issuer current until ctx is done.
func (k *keyring) watch(ctx context.Context) {
	if k.issuer != nil {
		k.issuer.Watch(ctx)
	}
}

// ReadPublicKeys returns the keys in the files of JWT_PUBLIC_KEYS, and why some in them
// are left out.
func ReadPublicKeys(c *config.Config) (keys []auth.Key, left []error, err error) {
	for _, file := range c.JWTPublicKeys {
		found, leftHere, err := auth.ReadPublicKeys(file)
		if err != nil {
			return nil, nil, fmt.Errorf("JWT_PUBLIC_KEYS: %w", AdviseRead(err, "name files with the public keys of those who sign tokens, PEM or JWK Sets"))
		}
		for _, reason := range leftHere {
			left = append(left, fmt.Errorf("%s: %w", file, reason))
		}
		keys = append(keys, found...)
	}
	return keys, left, nil
}

// EnsureSecrets returns the secrets that are configured, the one that signs first, or else
// those next to the database, which are generated when they are first needed: then it
// returns the path, too. With public keys instead there is none. A file that other users
// can read is passed to report.
func EnsureSecrets(c *config.Config, report secretfile.Report) (secrets []auth.Secret, made string, err error) {
	return loadSecrets(c, ensureSecrets, report)
}

// A secretsFunc returns the secrets in the file path, in the folder of the database. If
// it has made it, that is what it returns, too.
type secretsFunc func(path string, report secretfile.Report) (secrets []auth.Secret, made string, err error)

// loadSecrets returns the secrets that are configured, the one that signs first, or
// else what beside finds beside the database. With public keys instead there is none. A
// file that other users can read is passed to report.
func loadSecrets(c *config.Config, beside secretsFunc, report secretfile.Report) (secrets []auth.Secret, made string, err error) {
	switch {
	case c.JWTSecret != nil:
		secret, err := auth.ParseSecret(string(c.JWTSecret))
		if err != nil {
			return nil, "", config.Invalid("JWT_SECRET: %v", err)
		}
		return []auth.Secret{secret}, "", nil
	case c.JWTSecretFile != "":
		secrets, err := auth.ReadSecrets(c.JWTSecretFile, report)
		if err != nil {
			return nil, "", fmt.Errorf("JWT_SECRET_FILE: %w", AdviseRead(err, "name the file with the secret, or make one with: openssl rand -hex 32"))
		}
		return secrets, "", nil
	case !c.HasSecret():
		return nil, "", nil
	case c.Storage.Path == "":
		return nil, "", errors.New("JWT_SECRET, JWT_SECRET_FILE, JWT_PUBLIC_KEYS or JWT_JWKS_URL must be given: " +
			"with this storage there is no folder to keep a secret in")
	}
	return beside(SecretPath(c.Storage.Path), report)
}

// keepSecrets is a [secretsFunc] that makes none: those of before are in force.
func keepSecrets(path string, report secretfile.Report) (secrets []auth.Secret, made string, err error) {
	secrets, err = auth.ReadSecrets(path, report)
	if err != nil {
		return nil, "", fmt.Errorf("the secret beside the database: %w",
			AdviseRead(err, "put it back: a server that is started without it makes a new one, which ends all tokens"))
	}
	return secrets, "", nil
}

// ensureSecrets is a [secretsFunc] that makes a secret when it is first needed.
func ensureSecrets(path string, report secretfile.Report) (secrets []auth.Secret, made string, err error) {
	if _, err := os.Stat(path); err != nil { // in a directory that is there already, nothing has to be made
		if err := atomicfile.MkdirAll(filepath.Dir(path), dirPerm); err != nil {
			return nil, "", fmt.Errorf("the directory of the database: %w", err)
		}
	}
	secrets, isNew, err := auth.EnsureSecrets(path, report)
	if err != nil {
		return nil, "", fmt.Errorf("the secret beside the database: %w", AdviseRead(err, "make its folder first"))
	}
	if isNew {
		made = path
	}
	return secrets, made, nil
}
