package keys

import (
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plantstore/internal/certtest"
	"plantstore/internal/files"
	"plantstore/internal/must"
	"plantstore/middleware/auth"
)

const testSecret = "0123456789abcdef0123456789abcdef"

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
		strings.Repeat(testSecret, 1<<20/32+1): nil,
	} {
		must.Do(t, os.WriteFile(path, []byte(contents), 0o600))
		secrets, err := ReadSecrets(path, files.ReadSecret)
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

// TestGenerateRacing checks that concurrent callers get the same secret.
func TestGenerateRacing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	secrets := make([]auth.Secret, 32)
	var makers atomic.Int32
	var wg sync.WaitGroup
	for i := range secrets {
		wg.Go(func() {
			made, err := Generate(path, 0o700)
			if err != nil {
				t.Error(err)
			}
			all, err := ReadSecrets(path, files.ReadGenerated)
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

// TestGenerateKeepsFile checks that an existing file is kept, whatever it contains.
func TestGenerateKeepsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	must.Do(t, os.WriteFile(path, []byte("weak"), 0o600))
	if made, err := Generate(path, 0o700); made || err != nil {
		t.Errorf("made: %t, %v", made, err)
	}
	if contents, err := os.ReadFile(path); err != nil || string(contents) != "weak" {
		t.Errorf("the file is now %q, %v", contents, err)
	}
}

// TestReadSecretsRefusesKeys checks that a file with a key is not read as secrets, even if each of its
// lines could be one.
func TestReadSecretsRefusesKeys(t *testing.T) {
	t.Parallel()
	public := must.Get(x509.MarshalPKIXPublicKey(certtest.Keys(t)[0].Public()))(t)
	text := certtest.PEM("PUBLIC KEY", public)
	_, body, _ := strings.Cut(text, "\n")
	body, _, _ = strings.Cut(body, "-----END")
	for _, contents := range []string{text, body, string(public)} {
		if _, err := ReadSecrets(writeKey(t, contents), files.ReadSecret); err == nil || !strings.Contains(err.Error(), "JWT_PUBLIC_KEYS") {
			t.Errorf("%s: %v, want a remedy", contents, err)
		}
	}
}
