package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
)

// TestReadSecrets checks which files have secrets, of at least 32 bytes each (C4.24).
func TestReadSecrets(t *testing.T) {
	t.Parallel()
	const other = "fedcba9876543210fedcba9876543210"
	path := filepath.Join(t.TempDir(), "secrets")
	for contents, want := range map[string][]string{
		testSecret:                             {testSecret},
		testSecret + "\n\n":                    {testSecret},
		" " + testSecret + " \n":               {" " + testSecret + " "},
		testSecret + "\n" + other + "\n":       {testSecret, other},
		"\r\n" + other + "\r\n" + testSecret:   {other, testSecret},
		"\ufeff" + testSecret + "\n" + other:   {testSecret, other},
		testSecret + "\n\ufeff" + other:        {testSecret, "\ufeff" + other},
		"\ufeff" + testSecret[1:]:              nil,
		"\ufeff":                               nil,
		strings.Repeat("\xff", 32):             {strings.Repeat("\xff", 32)},
		"\n":                                   nil,
		testSecret + "\nhunter2\n":             nil,
		strings.Repeat(testSecret+"\n", 64+1):  nil,
		strings.Repeat(testSecret, 1<<20/32+1): nil,
	} {
		must.Do(t, os.WriteFile(path, []byte(contents), 0o600))
		secrets, err := ReadSecrets(path)
		var got []string
		for _, secret := range secrets {
			got = append(got, string(secret))
		}
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%.80q read as %q, %v", contents, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), path)) {
			t.Errorf("the error contains a secret, or no file: %v", err)
		}
	}
}

// TestEnsureSecretRacing checks that concurrent callers get the same secret.
func TestEnsureSecretRacing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	secrets := make([]Secret, 32)
	var makers atomic.Int32
	var wg sync.WaitGroup
	for i := range secrets {
		wg.Go(func() {
			all, made, err := EnsureSecrets(path)
			if err != nil || len(all) != 1 {
				t.Errorf("%d secrets, %v", len(all), err)
				return
			}
			if made {
				makers.Add(1)
			}
			secrets[i] = all[0]
		})
	}
	wg.Wait()
	if n := makers.Load(); n != 1 {
		t.Errorf("%d report that they generated it", n)
	}
	for _, secret := range secrets {
		if len(secret) != 64 || !bytes.Equal(secret, secrets[0]) {
			t.Fatalf("a secret of %d bytes, or several secrets", len(secret))
		}
	}
	info := must.Get(os.Stat(path))(t)
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode != 0o600 {
		t.Errorf("mode %v", mode)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestEnsureSecretKeepsWeak(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	must.Do(t, os.WriteFile(path, []byte("weak"), 0o600))
	if _, _, err := EnsureSecrets(path); err == nil || !strings.Contains(err.Error(), "too weak") {
		t.Errorf("got %v", err)
	}
	if contents, err := os.ReadFile(path); err != nil || string(contents) != "weak" {
		t.Errorf("the file is now %q, %v", contents, err)
	}
}

// TestSecretsAreRedacted checks that secrets and private keys are redacted in each form of output
// (C4.25).
func TestSecretsAreRedacted(t *testing.T) {
	t.Parallel()
	secret := Secret(testSecret)
	for _, value := range []any{secret, secret.Key(), &PrivateKey{key: privateKeys(t)[0]}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			if printed := fmt.Sprintf(verb, value); printed != models.Redacted {
				t.Errorf("%s of %T: %s", verb, value, printed)
			}
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", secret)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", secret, "options", Options{Keys: []Key{secret.Key()}})
	if printed := log.String(); strings.Contains(printed, testSecret) || strings.Count(printed, models.Redacted) < 2 {
		t.Errorf("the log: %s", printed)
	}
}

// TestKeysAreNotSecrets checks that a key is rejected as a secret in the forms in which people
// copy it: with a published key as the secret, anyone could sign tokens.
func TestKeysAreNotSecrets(t *testing.T) {
	t.Parallel()
	keys := privateKeys(t)
	public := string(publicPEM(t, keys[0]))
	_, body, _ := strings.Cut(public, "\n")
	body, _, _ = strings.Cut(body, "-----END")
	block, _ := pem.Decode([]byte(public))
	small, _ := pem.Decode(publicPEM(t, keys[1]))
	indented := must.Get(json.MarshalIndent(jwkOf(t, keys[0].Public(), nil), "", "  "))(t)
	for name, text := range map[string]string{
		"PEM after a comment":   "# the key of the issuer\n" + public,
		"PEM in one line":       strings.ReplaceAll(public, "\n", `\n`),
		"PEM without its lines": body,
		"a JWK":                 string(indented),
		"DER":                   string(block.Bytes),
		"DER, small":            string(small.Bytes),
		"DER in base64, small":  base64.StdEncoding.EncodeToString(small.Bytes),
	} {
		if _, err := ParseSecret(text); !errors.Is(err, errKeyAsSecret) {
			t.Errorf("%s: %v, want errKeyAsSecret", name, err)
		}
		if _, err := ReadSecrets(writeKey(t, text)); !errors.Is(err, errKeyAsSecret) || !strings.Contains(err.Error(), "JWT_PUBLIC_KEYS") {
			t.Errorf("%s in a file: %v, want errKeyAsSecret and a remedy", name, err)
		}
	}
	for _, text := range []string{ // only resemble a key
		"MIIB" + string(NewSecret()), "0" + string(NewSecret()), `{"password":"0123456789abcdef0123456789"}`,
		base64.StdEncoding.EncodeToString([]byte(testSecret)),
	} {
		if _, err := ParseSecret(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
