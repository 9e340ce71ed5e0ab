package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/internal/must"
	"plantstore/models"
)

const testSecret = "0123456789abcdef0123456789abcdef"

// sign makes a token of any header and payload, valid or not, signed with the secret.
func sign(header, payload string) string {
	return hmacKind("HS256", []byte(testSecret)).signAs(header, payload)
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// token makes a correctly signed token with that payload.
func token(payload string) string { return sign(`{"alg":"HS256","typ":"JWT"}`, payload) }

// nonCanonical changes the unused bits at the end of the signature.
func nonCanonical(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(token) - 1
	return token[:last] + string(alphabet[strings.IndexByte(alphabet, token[last])|1])
}

func testVerifier(change func(*Options)) *Verifier {
	options := Options{Secrets: []Secret{Secret(testSecret)}}
	if change != nil {
		change(&options)
	}
	return newVerifier(options)
}

// newVerifier returns the Verifier with valid options.
func newVerifier(o Options) *Verifier {
	v, err := New(o)
	if err != nil {
		panic(err)
	}
	return v
}

// setKeys replaces the keys of a Verifier by valid ones.
func setKeys(t *testing.T, v *Verifier, kinds ...kind) {
	t.Helper()
	must.Do(t, v.SetKeys(secretsOf(kinds), keysOf(kinds)))
}

func secretsOf(kinds []kind) (secrets []Secret) {
	for _, kind := range kinds {
		if kind.secret != nil {
			secrets = append(secrets, kind.secret)
		}
	}
	return secrets
}

func keysOf(kinds []kind) (keys []Key) {
	for _, kind := range kinds {
		if known := func(k Key) bool { return reflect.DeepEqual(k, kind.key) }; kind.key.Public != nil && !slices.ContainsFunc(keys, known) {
			keys = append(keys, kind.key)
		}
	}
	return keys
}

// checkRefuses checks the error for a token, twice: a rejected token must not be cached.
func checkRefuses(t *testing.T, v *Verifier, token string, code models.Code, message string) {
	t.Helper()
	for range 2 {
		_, err := v.Verify(context.Background(), token)
		failure, ok := errors.AsType[*models.Error](err)
		if !ok || failure.Code != code || !strings.Contains(failure.Message, message) || strings.Contains(failure.Error(), testSecret) {
			t.Errorf("%s: %v, want error %d with %q", readable(token), err, code, message)
		}
	}
}

// readable returns the header and the payload of a token as text.
func readable(token string) string {
	segments := strings.Split(token, ".")
	for i := range min(2, len(segments)) {
		if text, err := base64.RawURLEncoding.DecodeString(segments[i]); err == nil {
			segments[i] = string(text)
		}
	}
	return strings.Join(segments, ".")
}

func checkVerifies(t *testing.T, v *Verifier, tokens map[string]bool) {
	t.Helper()
	for token, want := range tokens {
		if _, err := v.Verify(context.Background(), token); (err == nil) != want {
			t.Errorf("%s: %v, want accepted: %t", readable(token), err, want)
		}
	}
}

// A kind is one algorithm and a key for it.
type kind struct {
	alg    string
	secret Secret // nil: key verifies
	key    Key
	signer any    // for jwt.SigningMethod.Sign
	public []byte // the public key in PEM
}

// algorithms returns the supported algorithms.
func algorithms() []string {
	return []string{"HS256", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// kinds returns a kind for each algorithm.
func kinds(t *testing.T) []kind {
	t.Helper()
	private := privateKeys(t)
	all := []kind{{alg: "HS256", secret: Secret(testSecret), signer: []byte(testSecret), public: publicPEM(t, private[0])}}
	for _, key := range private {
		public := Key{Public: key.Public()} // for all algorithms of its type
		for _, alg := range must.Get(public.Algorithms())(t) {
			all = append(all, kind{alg: alg, key: public, signer: key, public: publicPEM(t, key)})
		}
	}
	if len(all) != len(algorithms()) {
		t.Fatalf("%d kinds of keys for %v", len(all), algorithms())
	}
	return all
}

// privateKeys returns a new key of each type and curve.
func privateKeys(t *testing.T) []crypto.Signer {
	t.Helper()
	rsaKey := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys := []crypto.Signer{rsaKey, edwards}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		keys = append(keys, ecKey(t, curve))
	}
	return keys
}

func ecKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	return must.Get(ecdsa.GenerateKey(curve, rand.Reader))(t)
}

func publicPEM(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	der := must.Get(x509.MarshalPKIXPublicKey(key.Public()))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// hmacKind returns a kind that signs with any secret, and verifies nothing.
func hmacKind(alg string, secret []byte) kind { return kind{alg: alg, signer: secret} }

func (k kind) verifier() *Verifier {
	return newVerifier(Options{Secrets: secretsOf([]kind{k}), Keys: keysOf([]kind{k})})
}

// sign makes a correctly signed token of any header and payload, valid or not. HS256 in the
// header stands for the algorithm of the kind.
func (k kind) sign(header, payload string) string {
	return k.signAs(strings.ReplaceAll(header, `"HS256"`, `"`+k.alg+`"`), payload)
}

// signAs is sign with the header unchanged.
func (k kind) signAs(header, payload string) string {
	text := encode(header) + "." + encode(payload)
	signature, err := jwt.GetSigningMethod(k.alg).Sign(text, k.signer)
	if err != nil {
		panic(err) // the keys are made for it
	}
	return text + "." + encode(string(signature))
}

func (k kind) token(payload string) string { return k.sign(`{"alg":"HS256","typ":"JWT"}`, payload) }

func (k kind) headed(header string) string { return k.sign(header, `{}`) }

// named makes a token with the kid of its key.
func (k kind) named() string { return k.headed(`{"alg":"HS256","kid":"` + k.key.ID + `"}`) }

// ecKind returns a key for ES256 with a kid.
func ecKind(t *testing.T, kid string) kind {
	t.Helper()
	private := ecKey(t, elliptic.P256())
	return kind{alg: "ES256", key: Key{ID: kid, Public: private.Public()}, signer: private, public: publicPEM(t, private)}
}
