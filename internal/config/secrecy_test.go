package config_test

import (
	"strings"
	"testing"

	"plantstore/internal/config"
	"plantstore/storage"
)

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
