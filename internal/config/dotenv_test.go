package config_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plantstore/internal/config"
	"plantstore/internal/must"
)

// readBack returns the result of ReadDotenv for lines.
func readBack(t rapid.TB, dir string, lines []string) map[string]string {
	t.Helper()
	path := filepath.Join(dir, ".env")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	values, err := config.ReadDotenv(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(lines, "\n"))
	}
	return values
}

// anyValues draws values for some of the options, right ones for most.
func anyValues(t *rapid.T) map[string]string {
	values := make(map[string]string)
	awkward := rapid.StringOf(rapid.SampledFrom([]rune("'\"\\$`#!(){}~*=AZ az09_\u00a0\ufeff\u2028ü")))
	for _, s := range samples() {
		if s.env == "JWT_SECRET_FILE" || !rapid.Bool().Draw(t, s.env+" is given") {
			continue
		}
		switch s.env {
		case "JWT_SECRET", "JWT_ISSUER", "JWT_AUDIENCE", "STORAGE_URL":
			values[s.env] = rapid.OneOf(awkward, rapid.String()).Draw(t, s.env)
		default:
			values[s.env] = rapid.SampledFrom(s.texts).Draw(t, s.env)
		}
	}
	return values
}

// TestLinesLoadBack checks that the printed configuration loads back to itself, secrets aside,
// and a shell reads it in the same way.
func TestLinesLoadBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		c, err := config.Load(config.Sources{Flags: anyValues(t)})
		if err != nil {
			t.Skip("not a configuration")
		}
		values := readBack(t, dir, c.Lines())
		again, err := config.Load(config.Sources{Dotenv: values})
		if err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(c.Lines(), "\n"))
		}
		if diff := cmp.Diff(c.Lines(), again.Lines()); diff != "" {
			t.Fatalf("loaded back (-printed +again):\n%s", diff)
		}
		if !slices.Equal(again.JWTIssuers, c.JWTIssuers) || !slices.Equal(again.JWTAudiences, c.JWTAudiences) || again.Addr != c.Addr {
			t.Fatalf("loaded back as\n%+v, want\n%+v", again, c)
		}
	})
}

// TestLinesAreForShellsToo checks that a shell reads values as they are which it would take apart if it could.
func TestLinesAreForShellsToo(t *testing.T) {
	t.Parallel()
	options := map[string]string{
		"JWT_ISSUER":   `$(echo no) "it's" ` + "`echo no`" + ` \$HOME \\ \" # !x ~`,
		"JWT_AUDIENCE": `$HOME "x" \ #`,
	}
	path := filepath.Join(t.TempDir(), "env")
	must.Do(t, os.WriteFile(path, []byte(strings.Join(load(t, config.Sources{Flags: options}).Lines(), "\n")), 0o600))
	for env, want := range options {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", `. "$0"; printf %s "$`+env+`"`, path).Output()
		if err != nil || string(out) != want {
			t.Errorf("sh reads %s as %q (%v), want %q", env, out, err, want)
		}
	}
}

// TestLinesHideSecrets checks that secrets are not printed, nor are secrets in a URL (C4.25).
func TestLinesHideSecrets(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ env, text, want string }{
		"secret":             {"JWT_SECRET", "tell nobody of these 32 bytes and more", "REDACTED"},
		"password":           {"STORAGE_URL", "postgres://me:tell@db:5432/plants", "postgres://me:REDACTED@db:5432/plants"},
		"password with @":    {"STORAGE_URL", "postgres://me:tell@nobody@db", "postgres://me:REDACTED@db"},
		"in the query":       {"STORAGE_URL", "postgres://db/plants?password=tell&x=y", "postgres://db/plants?REDACTED"},
		"user only":          {"STORAGE_URL", "postgres://me@db/plants", "postgres://me@db/plants"},
		"neither":            {"STORAGE_URL", "postgres://db:5432/plants", "postgres://db:5432/plants"},
		"path that looks so": {"STORAGE_URL", "bbolt:///srv/a:b@c.db", "bbolt:///srv/a:b@c.db"},
		"no URL":             {"STORAGE_URL", "a/b@c.db", "a/b@c.db"},
		"of an issuer":       {"JWT_JWKS_URL", "https://issuer.test/k.json?key=tell", "https://issuer.test/k.json?REDACTED"},
	} {
		c := load(t, config.Sources{Environ: map[string]string{test.env: test.text}})
		if got := readBack(t, t.TempDir(), c.Lines())[test.env]; got != test.want {
			t.Errorf("%s: %s is printed as %q, want %q", name, test.env, got, test.want)
		}
	}
}

// TestErrorsHidePasswords checks that the error of a refused URL hides its password.
func TestErrorsHidePasswords(t *testing.T) {
	t.Parallel()
	for env, texts := range map[string][]string{
		"JWT_JWKS_URL":   {"https://me:tell@issuer.test/?key=tell", "http://issuer.test/?key=tell", "tell"},
		"ACME_DIRECTORY": {"https://me:tell@acme.test/", "http://me:tell@acme.test/d"},
		"BASE_URL":       {"http://me:tell@a", "http://me:te/tell@a"},
		"ADDR":           {"http://me:tell@a:1"},
		"STORAGE_URL": {
			"host=h user=u password=tell", " postgres://me:tell@h/db", "postgres://me:tell?tell@h/db", "postgres:me:tell@h", "me:tell@h/db",
			"etcd://me:1/tell@h", "etcd://me:1?tell@h", "\tetcd://me:tell@h", "mysql:tell",
		},
	} {
		for _, text := range texts {
			_, err := config.Load(config.Sources{Environ: map[string]string{env: text}})
			if err == nil || strings.Contains(err.Error(), "tell") {
				t.Errorf("%s=%s: %v", env, text, err)
			}
		}
	}
	for env, text := range map[string]string{"STORAGE_URL": "my plants/plants.db", "JWT_JWKS_URL": "http://issuer.test/jwks.json"} {
		_, err := config.Load(config.Sources{Environ: map[string]string{env: text}})
		if err == nil || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("%s=%s has no secret, and is not shown: %v", env, text, err)
		}
	}
}

func TestReadDotenv(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), ".env")
	for contents, want := range map[string]map[string]string{ // nil: ErrDotenv
		"":                   {},
		"# A=1\n\n  # B=2\n": {},
		"A=1\nB= two words # and a comment\r\nexport C='#'\nD=": {"A": "1", "B": "two words", "C": "#", "D": ""},
		"A=1\n=2\n":     nil,
		"A-B=hunter2\n": nil,
	} {
		must.Do(t, os.WriteFile(path, []byte(contents), 0o600))
		got, err := config.ReadDotenv(path)
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want == nil) {
			t.Errorf("%q: error %v, values (-want +got):\n%s", contents, err, diff)
		}
		if err != nil && (!errors.Is(err, config.ErrDotenv) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("error %v, want ErrDotenv without the content of the file", err)
		}
	}
}
