package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/config"
	"plantstore/internal/must"
)

// FuzzDotenv reads arbitrary .env files, and their values as options. Errors never quote
// malformed text, and printed values read back as the same values.
func FuzzDotenv(f *testing.F) {
	for _, seed := range []string{
		"", "ADDR=:1\nLOG_LEVEL=debug", "export JWT_ISSUER='a $b #c'", `JWT_SCOPE="x\"y"`, "=x", "ADDR", "A=${B}\nB=${A}",
		"JWT_SECRET=0123456789abcdef0123456789abcdef\nJWT_ISSUER=a\\b", "STORAGE_URL=postgres://u:p@h/d", "\xff=\x00",
	} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), ".env")
	read := func(t *testing.T, text []byte) (*config.Config, error) {
		t.Helper()
		must.Do(t, os.WriteFile(path, text, 0o600))
		values, err := config.ReadDotenv(path)
		if err != nil {
			if !errors.Is(err, config.ErrDotenv) {
				t.Errorf("%q: %v", text, err)
			}
			return nil, err
		}
		return config.Load(config.Sources{Dotenv: values})
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := read(t, text)
		if err != nil {
			return
		}
		printed := strings.Join(c.Lines(), "\n")
		again, err := read(t, []byte(printed))
		if err != nil {
			t.Fatalf("%q is printed as %s, which reads: %v", text, printed, err)
		}
		if got := strings.Join(again.Lines(), "\n"); got != printed {
			t.Errorf("%q is printed as %s, and that as %s", text, printed, got)
		}
	})
}
