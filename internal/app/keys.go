package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"plantstore/internal/config"
	"plantstore/internal/files"
	"plantstore/internal/keys"
	"plantstore/middleware/auth"
)

// dirPerm is the mode of the directory of a database, if it is created.
const dirPerm = 0o750

// SecretPath returns the file of the secret that is generated for a database, next to it.
func SecretPath(database string) string { return filepath.Join(filepath.Dir(database), "jwt-secret") }

// openKeys loads the configured keys. It may generate a secret next to the database, which
// openStore must have created.
func (a *App) openKeys(ctx context.Context) (err error) {
	c := a.config
	tokens := c.Tokens()
	tokens.Logger = a.logger
	if a.verifier, err = auth.New(tokens); err != nil {
		return err
	}
	var generated bool
	if a.secrets, generated, err = a.loadKeys(true); err != nil {
		return err
	}
	if err := a.compareAges(ctx, generated); err != nil {
		return err
	}
	a.reloads = append(a.reloads, reload{"secrets and public keys", func(context.Context) error {
		_, _, err := a.loadKeys(false)
		return err
	}})
	if c.JWTJWKSURL == "" {
		return nil
	}
	a.watches = append(a.watches, a.verifier.Watch)
	named := func(err error) error {
		if err != nil {
			err = fmt.Errorf("JWT_JWKS_URL: %w", err)
		}
		return err
	}
	a.reloads = append(a.reloads, reload{"issuer keys", func(ctx context.Context) error { return named(a.verifier.Fetch(ctx)) }})
	return named(a.verifier.Start(ctx))
}

// usualSetup is the time from the generation of a secret, by the command token, to the first start of a server.
const usualSetup = time.Hour

// compareAges warns if the database and the secret next to it seem not to belong together: one of them
// may have been lost, or left behind.
func (a *App) compareAges(ctx context.Context, generated bool) error {
	if !a.config.GeneratesSecret() || a.inMemory != nil || a.ephemeral() {
		return nil
	}
	path := SecretPath(a.config.Storage.Path)
	secret, err := os.Stat(path)
	if err != nil {
		return err
	}
	plants, err := a.store.Count(ctx)
	if err != nil {
		return nil //nolint:nilerr // the store logs it
	}
	a.emptied = plants == 0 && time.Since(secret.ModTime()) > usualSetup
	switch {
	case generated && plants > 0:
		a.Notice(slog.LevelWarn, "secret generated for an existing database", "file", path,
			"hint", "if the database comes from a backup, restore its jwt-secret and restart; if no server has used it yet, ignore this")
	case a.emptied:
		a.Notice(slog.LevelWarn, "0 plants, although the secret is older", "database", a.config.Storage.Path, "secret_written", secret.ModTime(),
			"hint", "was the database moved? If no plant was ever created, ignore this")
	}
	return nil
}

// loadKeys reads the files, and returns what [Secrets] does. If it fails, the previous keys
// stay in use.
func (a *App) loadKeys(generate bool) (secrets []auth.Secret, generated bool, err error) {
	if a.inMemory == nil {
		if secrets, generated, err = Secrets(a.config, generate); err != nil && !a.keepInMemory(err) {
			return nil, false, err
		}
	}
	if a.inMemory != nil {
		secrets = []auth.Secret{a.inMemory}
	}
	public, skipped, err := PublicKeys(a.config)
	if err != nil {
		return nil, false, err
	}
	for _, reason := range skipped {
		a.logger.Warn("public key skipped", "cause", reason.Error())
	}
	if err := a.verifier.SetKeys(secrets, public); err != nil {
		return nil, false, config.Invalid("JWT_SECRET_FILE, JWT_PUBLIC_KEYS: %w", err)
	}
	return secrets, generated, nil
}

// keepInMemory reports whether this is an ephemeral server that cannot store a generated secret because of an
// error. Then it generates one in memory.
func (a *App) keepInMemory(cause error) bool {
	database := a.config.Storage.Path
	_, err := os.Stat(SecretPath(database))
	exists := database != "" && err == nil
	if !a.ephemeral() || !a.config.GeneratesSecret() || exists && !errors.Is(cause, fs.ErrPermission) {
		return false
	}
	a.inMemory = keys.NewSecret()
	a.Notice(slog.LevelWarn, "secret in memory", "cause", cause.Error(), "hint", "get tokens from the link, or set JWT_SECRET")
	return true
}

// PublicKeys returns the keys in the files of JWT_PUBLIC_KEYS, and why some of them are
// skipped.
func PublicKeys(c *config.Config) (public []auth.Key, skipped []error, err error) {
	for _, file := range c.JWTPublicKeys {
		text, err := files.ReadPublic(file)
		if err != nil {
			return nil, nil, config.Invalid("JWT_PUBLIC_KEYS: %w", AdviseRead(err, "name files with the public keys that verify tokens, PEM or JWK Sets"))
		}
		found, reasons, err := auth.ParseKeys(text)
		if err != nil {
			return nil, nil, config.Invalid("JWT_PUBLIC_KEYS: %s: %w", file, err)
		}
		for _, reason := range reasons {
			skipped = append(skipped, fmt.Errorf("%s: %w", file, reason))
		}
		public = append(public, found...)
	}
	return public, skipped, nil
}

// Secrets returns the configured secrets, the signing one first, or else the secrets next to
// the database, which it generates if they do not exist and generate is set. With public keys
// instead there is no secret.
func Secrets(c *config.Config, generate bool) (secrets []auth.Secret, generated bool, err error) {
	switch {
	case c.JWTSecret != nil:
		if err := c.JWTSecret.Check(); err != nil {
			return nil, false, config.Invalid("JWT_SECRET: %v", err)
		}
		return []auth.Secret{c.JWTSecret}, false, nil
	case c.JWTSecretFile != "":
		secrets, err := keys.ReadSecrets(c.JWTSecretFile, files.ReadSecret)
		if err != nil {
			return nil, false, config.Invalid("JWT_SECRET_FILE: %w", AdviseRead(err, "name the file with the secret, or make one with: openssl rand -hex 32"))
		}
		return secrets, false, nil
	case !c.HasSecret():
		return nil, false, nil
	case c.Storage.Path == "":
		return nil, false, errors.New("JWT_SECRET, JWT_SECRET_FILE, JWT_PUBLIC_KEYS or JWT_JWKS_URL must be set: " +
			"with this storage there is no directory to keep a secret in")
	}
	path, advice := SecretPath(c.Storage.Path), "put it back: a server that starts without it generates a new one, and refuses all previous tokens"
	if generate {
		advice = "create its directory first"
		generated, err = keys.Generate(path, dirPerm)
	}
	if err == nil {
		secrets, err = keys.ReadSecrets(path, files.ReadGenerated)
	}
	if err != nil {
		return nil, false, fmt.Errorf("the secret next to the database: %w", AdviseRead(err, advice))
	}
	return secrets, generated, nil
}
