package config_test

import (
	"strings"
	"testing"

	"plantstore/internal/config"
	"plantstore/storage"
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
		c, err := config.Load(test.sources)
		if (err != nil) != test.wrong || err == nil && (string(c.JWTSecret) != test.wantText || c.JWTSecretFile != test.wantFile) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

// TestEnginesOfProgram checks that a URL without an engine is refused, and its password hidden,
// before the flag is refused for the password.
func TestEnginesOfProgram(t *testing.T) {
	t.Parallel()
	given := map[string]string{"STORAGE_URL": "postgres://u:tell@h/db"}
	engines := storage.Engines{"bbolt": nil}
	for _, sources := range []config.Sources{{Engines: engines, Flags: given}, {Engines: engines, Environ: given}} {
		_, err := config.Load(sources)
		want := `STORAGE_URL (--storage-url): "postgres://u:REDACTED@h/db": the storage URL needs plantstore-cluster, ` +
			"the program for several machines: see docs/several-machines.md"
		if err == nil || err.Error() != want {
			t.Errorf("Load: %v, want: %s", err, want)
		}
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
