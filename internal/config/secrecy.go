package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"plantstore/internal/auth"
	"plantstore/internal/files"
	"plantstore/models"
	"plantstore/storage"
)

// shown returns a value for logs and printed configurations, without secrets (C4.25).
// Values that can't be parsed are redacted.
func (o Option) shown(text string) string {
	switch {
	case text == "":
		return ""
	case o.isFile() && checkText(text) != nil: // it may be a key in the place of a name
		return models.Redacted
	case o.Secret, o.Env == "JWT_JWKS_URL" && auth.CheckJWKSURL(text) != nil: // its user may be a token
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
	case o.Env == "JWT_JWKS_URL", o.isAddress() && strings.Contains(text, "@"):
		return storage.Location{URL: text}.String()
	}
	return text
}

// isFile reports whether values are the names of files.
func (o Option) isFile() bool { return strings.HasSuffix(o.Env, "_FILE") || o.Env == "JWT_PUBLIC_KEYS" }

// isAddress reports whether values are addresses or URLs without a user.
func (o Option) isAddress() bool {
	return slices.Contains([]string{"ADDR", "ADMIN_ADDR", "BASE_URL", "ACME_DIRECTORY"}, o.Env)
}

// checkFlag rejects a URL with a secret in a flag, which all users of the machine can read
// in the list of processes (C4.25). A URL that cannot be parsed may have one.
func (o Option) checkFlag(text string) error {
	secret, remedy := false, "set "+o.Env+" in the environment"
	switch o.Env {
	case "STORAGE_URL":
		secret = hasPassword(text)
		remedy += ", or name a file with the URL by STORAGE_URL_FILE or --storage-url-file"
	case "JWT_JWKS_URL":
		u, err := url.Parse(text)
		secret = err != nil || u.User != nil || storage.HasSecretOption(u.RawQuery)
	}
	if !secret {
		return nil
	}
	return fmt.Errorf("it has a password in it, which other users can read in the list of processes: %s", remedy)
}

// hasPassword reports whether a storage URL has a password, or may have one because it can't be
// parsed.
func hasPassword(text string) bool {
	loc, err := storage.ParseURL(text)
	return err != nil || loc.HasPassword()
}

// ReadStorageURL sets the storage URL from the file STORAGE_URL_FILE, if it is given. It
// fails as [files.ReadSecret], and with an [InvalidError].
func (c *Config) ReadStorageURL() error {
	if c.StorageURLFile == "" {
		return nil
	}
	contents, err := files.ReadSecret(c.StorageURLFile)
	if err != nil {
		return err
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(contents), "\n"), "\r")
	if c.Storage, err = storage.ParseURL(text); err == nil {
		err = checkText(text)
	}
	if err != nil {
		return Invalid("%s: it must hold one line with a storage URL: %v", c.StorageURLFile, err)
	}
	return nil
}
