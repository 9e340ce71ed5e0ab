package config

import (
	"fmt"
	"slices"
	"strings"

	"plantstore/middleware/auth"
	"plantstore/models"
	"plantstore/storage"
)

// shown returns a value for logs and printed configurations, without secrets (C4.25).
// Values that can't be parsed are redacted.
func (o Option) shown(text string) string {
	file := strings.HasSuffix(o.Env, "_FILE") || o.Env == "JWT_PUBLIC_KEYS"
	address := slices.Contains([]string{"ADDR", "ADMIN_ADDR", "BASE_URL", "ACME_DIRECTORY"}, o.Env) // or a URL without a user
	switch {
	case text == "":
		return ""
	case file && CheckText(text) != nil: // it may be a key in the place of a name
		return models.Redacted
	case o.Secret, o.Env == "JWT_JWKS_URL" && auth.CheckJWKSURL(text) != nil && strings.ContainsAny(text, "@?#"): // its user may be a token
		return models.Redacted
	case o.Env == "STORAGE_URL":
		loc, err := storage.ParseURL(text)
		if err != nil && !strings.ContainsAny(text, ":=@?") { // not a URL: a path with a blank
			return text
		}
		if err != nil {
			return models.Redacted
		}
		return loc.String()
	case o.Env == "JWT_JWKS_URL", address && strings.Contains(text, "@"):
		return storage.Location{URL: text}.String()
	}
	return text
}

// checkFlag rejects a valid URL with a secret in a flag, which all users of the machine can read
// in the list of processes (C4.25).
func (o Option) checkFlag(text string) error {
	loc, _ := storage.ParseURL(text)
	_, query, _ := strings.Cut(text, "?")
	if !(o.Env == "STORAGE_URL" && loc.HasPassword() || o.Env == "JWT_JWKS_URL" && storage.HasSecretOption(query)) {
		return nil
	}
	return fmt.Errorf("it contains a password, and other users can read flags: set %s in the environment", o.Env)
}

// SetStorageURL sets the location of the plants. It fails if no engine of the program has its
// scheme.
func (c *Config) SetStorageURL(text string) error {
	loc, err := storage.ParseURL(text)
	if err == nil && c.Engines != nil {
		err = c.Engines.Supports(loc)
	}
	c.Storage = loc
	return err
}
