package keys

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/internal/certtest"
	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/middleware/auth"
	"plantstore/models"
)

func writeKey(t *testing.T, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.pem")
	must.Do(t, os.WriteFile(path, []byte(contents), 0o600))
	return path
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
	for _, private := range certtest.Keys(t) {
		forms := map[string][]byte{"PRIVATE KEY": must.Get(x509.MarshalPKCS8PrivateKey(private))(t)}
		switch key := private.(type) {
		case *rsa.PrivateKey:
			forms["RSA PRIVATE KEY"] = x509.MarshalPKCS1PrivateKey(key)
		case *ecdsa.PrivateKey:
			forms["EC PRIVATE KEY"] = must.Get(x509.MarshalECPrivateKey(key))(t)
		}
		options.Keys = []auth.Key{{Public: private.Public()}}
		for form, der := range forms {
			path := writeKey(t, certtest.PEM(form, der))
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
	for _, private := range certtest.Keys(t) {
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
	for _, value := range []any{HS256(auth.Secret(testSecret)), &Signer{key: certtest.Keys(t)[0]}} {
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
	usual := []string{"RS256", "EdDSA", "ES256", "ES384", "ES512"} // of certtest.Keys
	for i, private := range certtest.Keys(t) {
		path := writeKey(t, certtest.PrivatePEM(t, private))
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
	exchange := must.Get(x509.MarshalPKCS8PrivateKey(must.Get(ecdh.X25519().GenerateKey(rand.Reader))(t)))(t)
	ec := certtest.Keys(t)[2]
	good := must.Get(x509.MarshalPKCS8PrivateKey(ec))(t)
	parameters := certtest.PEM("EC PARAMETERS", []byte("x"))
	oldEncrypted := strings.Replace(certtest.PEM("RSA PRIVATE KEY", good), "\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1)
	for contents, want := range map[string]string{
		testSecret:                       "no PEM block",
		parameters:                       "no PEM block",
		certtest.PEM("PUBLIC KEY", good): `"PUBLIC KEY"`,
		oldEncrypted:                     "encrypted",
		certtest.PEM("OPENSSH PRIVATE KEY", good):         `"OPENSSH PRIVATE KEY"`,
		certtest.PEM("EC PRIVATE KEY", []byte("garbage")): "cannot be used",
		certtest.PEM("PRIVATE KEY", exchange):             "does not sign",
	} {
		_, err := ReadPrivateKey(writeKey(t, contents), "")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "key.pem: ") {
			t.Errorf("%s: %v, want the file and %q", contents, err, want)
		}
	}
	if _, err := ReadPrivateKey(writeKey(t, parameters+certtest.PEM("PRIVATE KEY", good)), ""); err != nil {
		t.Errorf("after parameters: %v", err)
	}
}

func TestMain(m *testing.M) { watchdog.Main(m) }
