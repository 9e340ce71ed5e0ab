package auth

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/internal/must"
)

func writeKey(t *testing.T, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.pem")
	must.Do(t, os.WriteFile(path, []byte(contents), 0o600))
	return path
}

// TestPrivateKeySigns checks that the public key verifies signatures of the private key, in
// each format of both, and that a token has all claims that the configuration requires.
func TestPrivateKeySigns(t *testing.T) {
	t.Parallel()
	options := Options{Issuers: []string{"i", "j"}, Audiences: []string{"a", "b"}, Scope: "s", RequireExp: true}
	for _, kind := range kinds(t)[1:] {
		forms := map[string]func() ([]byte, error){
			"PRIVATE KEY": func() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(kind.signer) },
		}
		switch key := kind.signer.(type) {
		case *rsa.PrivateKey:
			forms["RSA PRIVATE KEY"] = func() ([]byte, error) { return x509.MarshalPKCS1PrivateKey(key), nil }
		case *ecdsa.PrivateKey:
			forms["EC PRIVATE KEY"] = func() ([]byte, error) { return x509.MarshalECPrivateKey(key) }
		}
		for form, encoded := range forms {
			der, err := encoded()
			path := writeKey(t, block(t, form, der, err))
			key := must.Get(ReadPrivateKey(path, kind.alg))(t)
			key.SetKid("mine")
			issued := must.Get(Issue(key, options.Grant("x", time.Hour), time.Now()))(t)
			public, err := key.PublicPEM()
			if err != nil || string(public) != string(kind.public) {
				t.Errorf("%s: the public half is %s, %v", kind.alg, public, err)
			}
			options.Keys = []Key{kind.key}
			subject, err := NewVerifier(options).Verify(issued)
			if err != nil || subject != "x" || key.Alg() != kind.alg {
				t.Errorf("%s from %s: %q, %v", kind.alg, form, subject, err)
			}
			if want := `{"alg":"` + kind.alg + `","kid":"mine"}`; !strings.HasPrefix(issued, encode(want)+".") {
				t.Errorf("the token is %s, want the header %s", readable(issued), want)
			}
		}
	}
}

// TestAlgorithmOfPrivateKey checks that the algorithm is the default of the key's type, or the
// requested one if the type supports it.
func TestAlgorithmOfPrivateKey(t *testing.T) {
	t.Parallel()
	usual := []string{"RS256", "EdDSA", "ES256", "ES384", "ES512"} // of privateKeys
	for i, private := range privateKeys(t) {
		der, err := x509.MarshalPKCS8PrivateKey(private)
		path := writeKey(t, block(t, "PRIVATE KEY", der, err))
		if key, err := ReadPrivateKey(path, ""); err != nil || key.Alg() != usual[i] {
			t.Errorf("want %s: %v", usual[i], err)
		}
		for _, alg := range []string{"HS256", "none", "RS255", "ES256K"} {
			if _, err := ReadPrivateKey(path, alg); !errors.Is(err, errUnfitKey) || !errors.Is(err, ErrAlgorithm) {
				t.Errorf("%s by a key for %s: %v", alg, usual[i], err)
			}
		}
	}
}

// TestReadPrivateKeyRefuses checks the errors of files without a private key that signs.
// TestReadPublicKeys has those of keys that are unfit.
func TestReadPrivateKeyRefuses(t *testing.T) {
	t.Parallel()
	exchange, err := x509.MarshalPKCS8PrivateKey(must.Get(ecdh.X25519().GenerateKey(rand.Reader))(t))
	ec := ecKey(t, elliptic.P256())
	good := must.Get(x509.MarshalPKCS8PrivateKey(ec))(t)
	parameters := block(t, "EC PARAMETERS", []byte("x"), nil)
	oldEncrypted := strings.Replace(block(t, "RSA PRIVATE KEY", good, nil), "\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1)
	for contents, want := range map[string]string{
		testSecret:               "no PEM block",
		parameters:               "no PEM block",
		string(publicPEM(t, ec)): `"PUBLIC KEY"`,
		oldEncrypted:             "encrypted",
		block(t, "OPENSSH PRIVATE KEY", good, nil):         `"OPENSSH PRIVATE KEY"`,
		block(t, "EC PRIVATE KEY", []byte("garbage"), nil): "cannot be used",
		block(t, "PRIVATE KEY", exchange, err):             "private key that signs",
	} {
		_, err := ReadPrivateKey(writeKey(t, contents), "")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "key.pem: ") {
			t.Errorf("%s: %v, want the file and %q", contents, err, want)
		}
	}
	if _, err := ReadPrivateKey(writeKey(t, parameters+block(t, "PRIVATE KEY", good, nil)), ""); err != nil {
		t.Errorf("after parameters: %v", err)
	}
}
