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

func TestParseSecret(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"":                         false,
		strings.Repeat("x", 31):    false,
		strings.Repeat("x", 32):    true,
		strings.Repeat("\xff", 64): true,
	} {
		secret, err := ParseSecret(text)
		if (err == nil) != ok {
			t.Errorf("%d bytes: %v", len(text), err)
		}
		if ok && string(secret) != text {
			t.Errorf("%q became %q", text, []byte(secret))
		}
		if err != nil && text != "" && strings.Contains(err.Error(), text) {
			t.Error("the error holds the secret")
		}
	}
}

func TestReadSecrets(t *testing.T) {
	t.Parallel()
	const other = "fedcba9876543210fedcba9876543210"
	path := filepath.Join(t.TempDir(), "secrets")
	for contents, want := range map[string][]string{
		testSecret:                             {testSecret},
		testSecret + "\n":                      {testSecret},
		testSecret + "\r\n":                    {testSecret},
		testSecret + "\n\n":                    {testSecret},
		" " + testSecret + " \n":               {" " + testSecret + " "},
		testSecret + "\n" + other + "\n":       {testSecret, other},
		"\r\n" + other + "\r\n" + testSecret:   {other, testSecret},
		"\ufeff" + testSecret + "\n" + other:   {testSecret, other},
		testSecret + "\n\ufeff" + other:        {testSecret, "\ufeff" + other},
		"\ufeff" + testSecret[1:]:              nil,
		"\ufeff":                               nil,
		"\n":                                   nil,
		"":                                     nil,
		testSecret + "\nhunter2\n":             nil,
		"hunter2":                              nil,
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
			t.Fatalf("secrets of %d and %d bytes, equal: %v", len(secret), len(secrets[0]), bytes.Equal(secret, secrets[0]))
		}
	}
	checkMode(t, path)
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func checkMode(t *testing.T, path string) {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode != 0o600 {
		t.Errorf("mode %v", mode)
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

// TestSecretIsRedacted checks that a secret is redacted in each form of output.
func TestSecretIsRedacted(t *testing.T) {
	t.Parallel()
	secret := Secret(testSecret)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", secret)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", secret)
	encoded := must.Get(json.Marshal(map[string]any{"secret": secret, "options": Options{Keys: []Key{secret.Key()}}}))(t)
	for name, printed := range map[string]string{
		"log":  log.String(),
		"JSON": string(encoded),
		"fmt":  fmt.Sprintf("%v %+v %#v %s %q %+v", secret, secret, secret, secret, secret, Options{Keys: []Key{secret.Key()}}),
	} {
		if strings.Contains(printed, testSecret) || !strings.Contains(printed, models.Redacted) {
			t.Errorf("%s: %s", name, printed)
		}
	}
	for _, verb := range []string{"%x", "%X", "%d"} {
		if printed := fmt.Sprintf(verb, secret); strings.Contains(printed, "30313233") || strings.Contains(printed, "48 49") {
			t.Errorf("%s: %s", verb, printed)
		}
	}
}

// TestKeysAreNotSecrets checks that a key is rejected as a secret in the forms in which people
// copy it: with a published key as the secret, anyone could sign tokens.
func TestKeysAreNotSecrets(t *testing.T) {
	t.Parallel()
	rsaKey, ed25519Key := privateKeys(t)[0], privateKeys(t)[1]
	public := string(publicPEM(t, rsaKey))
	_, body, _ := strings.Cut(public, "\n")
	body, _, _ = strings.Cut(body, "-----END")
	block, _ := pem.Decode([]byte(public))
	small, _ := pem.Decode(publicPEM(t, ed25519Key))
	indented := must.Get(json.MarshalIndent(jwkOf(t, rsaKey.Public(), nil), "", "  "))(t)
	for name, text := range map[string]string{
		"PEM":                   public,
		"PEM after a comment":   "# the key of the issuer\n" + public,
		"PEM in one line":       strings.ReplaceAll(public, "\n", `\n`),
		"PEM without its lines": body,
		"a certificate":         "-----BEGIN CERTIFICATE-----\nMIIB0123456789abcdef0123456789\n-----END CERTIFICATE-----",
		"a JWK":                 string(indented),
		"a symmetric JWK":       `{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMko"}`,
		"a JWK Set":             setOf(t, jwkOf(t, rsaKey.Public(), nil)),
		"DER":                   string(block.Bytes),
		"DER, small":            string(small.Bytes),
		"DER in base64":         base64.StdEncoding.EncodeToString(block.Bytes),
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
		string(NewSecret()), "MIIB" + string(NewSecret()), "0" + string(NewSecret()), `{"password":"0123456789abcdef0123456789"}`,
		base64.StdEncoding.EncodeToString([]byte(testSecret)),
	} {
		if _, err := ParseSecret(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
