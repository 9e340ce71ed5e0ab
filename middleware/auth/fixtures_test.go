package auth

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/internal/certtest"
	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/models"
)

const testSecret = "0123456789abcdef0123456789abcdef"

// A kind is one algorithm and a key for it, which makes tokens.
type kind struct {
	alg    string
	secret Secret // nil: key verifies
	key    Key
	signer any // for jwt.SigningMethod.Sign
}

// hs256 is the kind of the secret.
var hs256 = kind{alg: "HS256", secret: Secret(testSecret), signer: []byte(testSecret)}

// sign makes a correctly signed token of any header and payload, valid or not. "own" in the header
// stands for the algorithm of the kind.
func (k kind) sign(header, payload string) string {
	text := encode(strings.Replace(header, `"own"`, `"`+k.alg+`"`, 1)) + "." + encode(payload)
	signature, err := jwt.GetSigningMethod(k.alg).Sign(text, k.signer)
	if err != nil {
		panic(err) // the keys are made for it
	}
	return text + "." + encode(string(signature))
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// token makes a token with a payload.
func (k kind) token(payload string) string { return k.sign(`{"alg":"own","typ":"JWT"}`, payload) }

// headed makes a token with a header.
func (k kind) headed(header string) string { return k.sign(header, `{}`) }

// named makes a token with the kid of its key.
func (k kind) named() string { return k.headed(`{"alg":"own","kid":"` + k.key.ID + `"}`) }

// hmacKind returns a kind that signs with any secret, and verifies nothing.
func hmacKind(alg string, secret []byte) kind { return kind{alg: alg, signer: secret} }

// ecKind returns a key for ES256 with a kid.
func ecKind(t *testing.T, kid string) kind {
	t.Helper()
	private := ecKey(t, elliptic.P256())
	return kind{alg: "ES256", key: Key{ID: kid, Public: private.Public()}, signer: private}
}

func ecKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	return must.Get(ecdsa.GenerateKey(curve, rand.Reader))(t)
}

// algorithms returns the supported algorithms.
func algorithms() []string {
	return []string{"HS256", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA", "ES256", "ES384", "ES512"}
}

// kinds returns a kind for each of the algorithms, in their order.
func kinds(t *testing.T) []kind {
	t.Helper()
	all, names := []kind{hs256}, []string{"HS256"}
	for _, private := range certtest.Keys(t) {
		public := Key{Public: private.Public()} // for all algorithms of its type
		for _, alg := range must.Get(public.Algorithms())(t) {
			all, names = append(all, kind{alg: alg, key: public, signer: private}), append(names, alg)
		}
	}
	if !slices.Equal(names, algorithms()) {
		t.Fatalf("kinds of keys for %v", names)
	}
	return all
}

func publicPEM(t *testing.T, public crypto.PublicKey) string {
	t.Helper()
	return certtest.PEM("PUBLIC KEY", must.Get(x509.MarshalPKIXPublicKey(public))(t))
}

// optionsOf returns Options with the keys of kinds, each once.
func optionsOf(kinds ...kind) (o Options) {
	for _, kind := range kinds {
		if kind.secret != nil {
			o.Secrets = append(o.Secrets, kind.secret)
		} else if known := func(k Key) bool { return reflect.DeepEqual(k, kind.key) }; !slices.ContainsFunc(o.Keys, known) {
			o.Keys = append(o.Keys, kind.key)
		}
	}
	return o
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
	o := optionsOf(kinds...)
	must.Do(t, v.SetKeys(o.Secrets, o.Keys))
}

// Parts of the messages for tokens.
const (
	accepted     = "" // no message
	refused      = "the access token"
	badForm      = "well-formed"
	badSignature = "not signed with a key"
	badAlgorithm = "and this server accepts "
	tooDeep      = "nests deeper than 16 levels"
	noScope      = "lacks the scope plants:create"
	noKeys       = "no keys of its issuer yet"
)

// check checks the message for each token, twice: a rejected token must not be cached.
func check(t *testing.T, v *Verifier, message string, tokens ...string) {
	t.Helper()
	code := cmp.Or(map[string]models.Code{noScope: models.CodeForbidden, noKeys: models.CodeUnavailable}[message], models.CodeUnauthorized)
	for _, token := range slices.Repeat(tokens, 2) {
		_, err := v.Verify(context.Background(), token)
		failure, _ := errors.AsType[*models.Error](err)
		switch {
		case message == accepted && err == nil:
		case message == accepted || failure == nil || failure.Code != code || !strings.Contains(failure.Message, message) || strings.Contains(failure.Error(), testSecret):
			t.Errorf("%s: %v, want error %d with %q, or none without a message", readable(token), err, code, message)
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

func TestMain(m *testing.M) { watchdog.Main(m) }
