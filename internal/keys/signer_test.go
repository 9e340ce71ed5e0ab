package keys

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/internal/must"
	"plantstore/middleware/auth"
	"plantstore/models"
)

func writeKey(t *testing.T, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.pem")
	must.Do(t, os.WriteFile(path, []byte(contents), 0o600))
	return path
}

// block returns a PEM block.
func block(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	must.Do(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// privateKeys returns a new key of each type and curve.
func privateKeys(t *testing.T) []crypto.Signer {
	t.Helper()
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	keys := []crypto.Signer{must.Get(rsa.GenerateKey(rand.Reader, 2048))(t), edwards}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		keys = append(keys, must.Get(ecdsa.GenerateKey(curve, rand.Reader))(t))
	}
	return keys
}

// TestIssue checks that a server accepts tokens signed with a secret, or with a private key in each
// format, if they have all claims that it requires.
func TestIssue(t *testing.T) {
	t.Parallel()
	options := auth.Options{Issuers: []string{"i", "j"}, Audiences: []string{"a", "b"}, Scope: "s", RequireExp: true}
	check := func(signer *Signer, options auth.Options) {
		t.Helper()
		signer.SetKid("mine")
		issued := must.Get(signer.Issue(GrantFor(options, "x", time.Hour), time.Now()))(t)
		subject, err := must.Get(auth.New(options))(t).Verify(t.Context(), issued)
		if err != nil || subject != "x" {
			t.Errorf("%s: %q, %v", signer.Alg(), subject, err)
		}
		want := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"` + signer.Alg() + `","kid":"mine"}`))
		if !strings.HasPrefix(issued, want+".") {
			t.Errorf("%s: the token is %s, want the header %s", signer.Alg(), issued, want)
		}
	}
	withSecret := options
	withSecret.Secrets = []auth.Secret{auth.Secret(testSecret)}
	check(HS256(withSecret.Secrets[0]), withSecret)
	for _, private := range privateKeys(t) {
		forms := map[string]func() ([]byte, error){
			"PRIVATE KEY": func() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(private) },
		}
		switch key := private.(type) {
		case *rsa.PrivateKey:
			forms["RSA PRIVATE KEY"] = func() ([]byte, error) { return x509.MarshalPKCS1PrivateKey(key), nil }
		case *ecdsa.PrivateKey:
			forms["EC PRIVATE KEY"] = func() ([]byte, error) { return x509.MarshalECPrivateKey(key) }
		}
		options.Keys = []auth.Key{{Public: private.Public()}}
		for form, encoded := range forms {
			der, err := encoded()
			path := writeKey(t, block(t, form, der, err))
			for _, alg := range must.Get(options.Keys[0].Algorithms())(t) {
				check(must.Get(ReadPrivateKey(path, alg))(t), options)
			}
		}
	}
}

// TestPublicHalf checks that a private key is found among public keys, by its algorithm, too, and
// that its public key can be exported.
func TestPublicHalf(t *testing.T) {
	t.Parallel()
	for _, private := range privateKeys(t) {
		signer := &Signer{method: jwt.GetSigningMethod(must.Get(auth.Key{Public: private.Public()}.Algorithms())(t)[0]), key: private}
		public, _, err := auth.ParseKeys(must.Get(signer.PublicPEM())(t))
		must.Do(t, err)
		public[0].ID = "mine"
		other := auth.Key{Alg: "PS512", Public: private.Public()}
		if kid, found := signer.Among([]auth.Key{other, public[0]}); kid != "mine" || !found {
			t.Errorf("%s: %q, %t", signer.Alg(), kid, found)
		}
		if _, found := signer.Among([]auth.Key{other}); found {
			t.Errorf("%s: found for another algorithm", signer.Alg())
		}
	}
}

// TestSignersAreRedacted checks that signers are redacted in each form of output (C4.25).
func TestSignersAreRedacted(t *testing.T) {
	t.Parallel()
	for _, value := range []any{HS256(auth.Secret(testSecret)), &Signer{key: privateKeys(t)[0]}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			if printed := fmt.Sprintf(verb, value); printed != models.Redacted {
				t.Errorf("%s of %T: %s", verb, value, printed)
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
			if _, err := ReadPrivateKey(path, alg); !errors.Is(err, auth.ErrAlgorithm) {
				t.Errorf("%s by a key for %s: %v", alg, usual[i], err)
			}
		}
	}
}

// TestReadPrivateKeyRefuses checks the errors of files without a private key that signs.
// Package auth tests which keys are unfit.
func TestReadPrivateKeyRefuses(t *testing.T) {
	t.Parallel()
	exchange, err := x509.MarshalPKCS8PrivateKey(must.Get(ecdh.X25519().GenerateKey(rand.Reader))(t))
	ec := privateKeys(t)[2]
	good := must.Get(x509.MarshalPKCS8PrivateKey(ec))(t)
	parameters := block(t, "EC PARAMETERS", []byte("x"), nil)
	oldEncrypted := strings.Replace(block(t, "RSA PRIVATE KEY", good, nil), "\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1)
	for contents, want := range map[string]string{
		testSecret:                        "no PEM block",
		parameters:                        "no PEM block",
		block(t, "PUBLIC KEY", good, nil): `"PUBLIC KEY"`,
		oldEncrypted:                      "encrypted",
		block(t, "OPENSSH PRIVATE KEY", good, nil):         `"OPENSSH PRIVATE KEY"`,
		block(t, "EC PRIVATE KEY", []byte("garbage"), nil): "cannot be used",
		block(t, "PRIVATE KEY", exchange, err):             "does not sign",
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
