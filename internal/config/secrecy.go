package config

import (
	"fmt"
	"net/url"
	"strings"

	"plantstore/internal/auth"
	"plantstore/internal/secretfile"
	"plantstore/storage"
)

// maxStorageURL is the maximum size in bytes of the file STORAGE_URL_FILE.
const maxStorageURL = 64 << 10

// shown returns a value for logs and printed configurations, without secrets (C4.25).
// Values that can't be parsed are redacted.
func (o Option) shown(text string) string {
	switch {
	case text == "":
		return ""
	case o.Secret:
		return auth.Redacted
	}
	switch o.Env {
	case "STORAGE_URL":
		return shownStorage(text)
	case "JWT_JWKS_URL":
		return shownIssuer(text)
	case "ADDR", "ADMIN_ADDR", "BASE_URL", "ACME_DIRECTORY": // without a user
		if strings.Contains(text, "@") {
			return storage.ShownURL(text)
		}
	}
	return text
}

func shownStorage(text string) string {
	loc, err := storage.ParseURL(text)
	if err != nil {
		return auth.Redacted
	}
	return loc.String()
}

// shownIssuer redacts the query, which may contain a secret.
func shownIssuer(text string) string {
	if auth.CheckJWKSURL(text) != nil {
		return auth.Redacted
	}
	if place, _, hasQuery := strings.Cut(text, "?"); hasQuery {
		return place + "?" + auth.Redacted
	}
	return text
}

// checkFlag rejects a secret in a flag, which all users of the machine can read in the list
// of processes (C4.25).
func (o Option) checkFlag(text string) error {
	secret := false
	switch o.Env {
	case "STORAGE_URL":
		loc, err := storage.ParseURL(text)
		secret = err != nil || loc.HasPassword()
	case "JWT_JWKS_URL":
		u, err := url.Parse(text)
		secret = err != nil || storage.HasSecretOption(u.RawQuery)
	}
	if !secret {
		return nil
	}
	remedy := "set " + o.Env + " in the environment"
	if o.Env == "STORAGE_URL" {
		remedy += ", or name a file with the URL by STORAGE_URL_FILE or --storage-url-file"
	}
	return fmt.Errorf("it has a password in it, which other users can read in the list of processes: %s", remedy)
}

// ReadStorageURL sets the storage URL from the file STORAGE_URL_FILE, if it is given. It
// fails as [secretfile.Read], which calls report, and with an [InvalidError].
func (c *Config) ReadStorageURL(report secretfile.Report) error {
	if c.StorageURLFile == "" {
		return nil
	}
	contents, err := secretfile.Read(c.StorageURLFile, maxStorageURL, report)
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
