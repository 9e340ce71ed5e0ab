package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/config"
)

// TestSecretOrFile checks that of the two ways to give the secret the one of higher precedence
// wins, and that a source cannot give both.
func TestSecretOrFile(t *testing.T) {
	t.Parallel()
	const long = "a secret of more than thirty-two bytes"
	text, file := map[string]string{"JWT_SECRET": long}, map[string]string{"JWT_SECRET_FILE": "f"}
	both := map[string]string{"JWT_SECRET": long, "JWT_SECRET_FILE": "f"}
	for name, test := range map[string]struct {
		sources            config.Sources
		wantText, wantFile string
		wrong              bool
	}{
		"flag over environment": {config.Sources{Flags: file, Environ: text}, "", "f", false},
		"environment over .env": {config.Sources{Environ: text, Dotenv: file}, long, "", false},
		"the other way":         {config.Sources{Environ: file, Dotenv: text}, "", "f", false},
		"invalid, not used":     {config.Sources{Environ: file, Dotenv: map[string]string{"JWT_SECRET": "short"}}, "", "f", false},
		"both":                  {config.Sources{Environ: both}, "", "", true},
		"both in .env":          {config.Sources{Dotenv: both}, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := config.Load(test.sources)
			if test.wrong {
				if err == nil {
					t.Error("accepted")
				}
				return
			}
			if err != nil || string(c.JWTSecret) != test.wantText || c.JWTSecretFile != test.wantFile {
				t.Errorf("secret %q, file %q, %v", []byte(c.JWTSecret), c.JWTSecretFile, err)
			}
		})
	}
}

// TestStorageURLOrFile checks that the same applies to the storage URL, which has a default;
// with a file the location is empty until the file is read.
func TestStorageURLOrFile(t *testing.T) {
	t.Parallel()
	file, both := map[string]string{"STORAGE_URL_FILE": "f"}, map[string]string{"STORAGE_URL": "a.db", "STORAGE_URL_FILE": "f"}
	if c := load(t, config.Sources{Dotenv: file}); c.Storage.Path != "" || c.StorageURLFile != "f" {
		t.Errorf("path %q, file %q", c.Storage.Path, c.StorageURLFile)
	}
	_, err := config.Load(config.Sources{Environ: both})
	if err == nil || !strings.Contains(err.Error(), "STORAGE_URL and STORAGE_URL_FILE are both given") {
		t.Errorf("Load: %v", err)
	}
}

// TestSecretsInFlags checks that a flag with a secret in it is refused with the way out, and
// the same value is fine in the environment.
func TestSecretsInFlags(t *testing.T) {
	t.Parallel()
	for text, env := range map[string]string{
		"postgres://u:tell@h/db":             "STORAGE_URL",
		"POSTGRES://u:t%65ll@h/db":           "STORAGE_URL",
		"postgres://h/db?password=tell":      "STORAGE_URL",
		"postgres://h/db?p%61ssword=tell":    "STORAGE_URL",
		"postgres://h/db?x=y&SslPassword=te": "STORAGE_URL",
		"etcd://root:tell@a:1,b:2/plants":    "STORAGE_URL",
		"https://a/jwks?access_token=tell":   "JWT_JWKS_URL",
		"https://a/jwks?apikey=tell":         "JWT_JWKS_URL",
	} {
		given := map[string]string{env: text}
		_, err := config.Load(config.Sources{Flags: given})
		if err == nil || !strings.Contains(err.Error(), "set "+env+" in the environment") || strings.Contains(err.Error(), "tell") {
			t.Errorf("%s as a flag: %v", text, err)
		}
		if _, err := config.Load(config.Sources{Environ: given}); err != nil {
			t.Errorf("%s in the environment: %v", text, err)
		}
	}
	for text, env := range map[string]string{
		"postgres://u@h/db?sslmode=disable&passfile=/f": "STORAGE_URL", "etcd://a/p?key=/f&cert=/f": "STORAGE_URL", "bbolt:u:p@h": "STORAGE_URL",
		"https://a/jwks?p=policy": "JWT_JWKS_URL",
	} {
		if _, err := config.Load(config.Sources{Flags: map[string]string{env: text}}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestReadStorageURL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "url")
	for contents, want := range map[string]string{
		"postgres://u:tell@h/db\n":         "postgres://u:tell@h/db",
		"\ufeffpostgres://u:tell@h/db\r\n": "postgres://u:tell@h/db",
		"a.db":                             "a.db",
		"":                                 "",
		"\n":                               "",
		" postgres://u:tell@h/db\n":        "",
		"postgres://u:tell@h/db\n\n":       "",
		"a.db\npostgres://u:tell@h/db\n":   "",
		"host=h password=tell\n":           "",
		"STORAGE_URL=a.db\n":               "",
	} {
		if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
		c := load(t, config.Sources{Environ: map[string]string{"STORAGE_URL_FILE": path}})
		err := c.ReadStorageURL()
		switch {
		case want != "" && (err != nil || c.Storage.URL != want):
			t.Errorf("%q: %v, %s", contents, err, c.Storage.URL)
		case want == "" && (!errors.As(err, new(*config.InvalidError)) || strings.Contains(err.Error(), "tell") || !strings.Contains(err.Error(), path)):
			t.Errorf("%q: %v, want that it is invalid", contents, err)
		}
		if lines := strings.Join(c.Lines(), "\n"); strings.Contains(lines, "tell") || !strings.Contains(lines, "\nSTORAGE_URL_FILE=") {
			t.Errorf("%q is printed as\n%s", contents, lines)
		}
	}
	c := load(t, config.Sources{Environ: map[string]string{"STORAGE_URL_FILE": filepath.Join(dir, "none")}})
	if err := c.ReadStorageURL(); !errors.Is(err, fs.ErrNotExist) || c.Storage.Path != "" {
		t.Errorf("without the file: %v, %v", err, c.Storage)
	}
}
