package auth

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"maps"
	"math/big"
	"strings"
	"testing"

	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// A jwk is a JSON Web Key, built without the libraries of the code under test.
type jwk map[string]any

// jwkOf returns the JWK of a public key (RFC 7518, section 6; RFC 8037, section 2), with
// more fields.
func jwkOf(t *testing.T, public crypto.PublicKey, more jwk) jwk {
	t.Helper()
	var key jwk
	switch public := public.(type) {
	case *rsa.PublicKey:
		key = jwk{"kty": "RSA", "n": encode(string(public.N.Bytes())), "e": encode(string(big.NewInt(int64(public.E)).Bytes()))}
	case *ecdsa.PublicKey:
		point := must.Get(public.Bytes())(t) // 4, X, Y
		half := (len(point) - 1) / 2
		key = jwk{
			"kty": "EC", "crv": public.Curve.Params().Name,
			"x": encode(string(point[1 : 1+half])), "y": encode(string(point[1+half:])),
		}
	case ed25519.PublicKey:
		key = jwk{"kty": "OKP", "crv": "Ed25519", "x": encode(string(public))}
	default:
		t.Fatalf("no JWK of %T", public)
	}
	maps.Copy(key, more)
	return key
}

// setOf returns a JWK Set as text.
func setOf(t *testing.T, keys ...any) string {
	t.Helper()
	return string(must.Get(json.Marshal(map[string]any{"keys": keys}))(t))
}

// TestParseKeys checks the forms of keys. An unreadable key anywhere in a text is an error; no key is
// skipped silently.
func TestParseKeys(t *testing.T) {
	t.Parallel()
	private := certtest.Keys(t)
	rsaKey, ecPrivate := private[0].(*rsa.PrivateKey), private[2].(*ecdsa.PrivateKey)
	bare := func(public any, more jwk) string {
		return string(must.Get(json.Marshal(jwkOf(t, public, more)))(t))
	}
	small := publicPEM(t, &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 1023), E: 65537})
	exchange := must.Get(ecdh.X25519().GenerateKey(rand.Reader))(t)
	pkcs1 := certtest.PEM("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&rsaKey.PublicKey))
	pkcs8 := must.Get(x509.MarshalPKCS8PrivateKey(rsaKey))(t)
	sec1 := must.Get(x509.MarshalECPrivateKey(ecPrivate))(t)
	good := publicPEM(t, &rsaKey.PublicKey)
	cut := good[:len(good)/2]
	set := setOf(t, jwkOf(t, rsaKey.Public(), nil), jwkOf(t, ecPrivate.Public(), nil))
	for name, test := range map[string]struct {
		contents string
		keys     int    // 0: refused
		message  string // a piece of the error
	}{
		"Ed25519":             {publicPEM(t, private[1].Public()), 1, ""},
		"EC":                  {publicPEM(t, private[2].Public()), 1, ""},
		"several":             {"# of the issuer\n" + good + "\n" + pkcs1 + publicPEM(t, private[4].Public()), 3, ""},
		"PKCS #8, private":    {good + certtest.PEM("PRIVATE KEY", pkcs8), 0, "private key"},
		"PKCS #1, private":    {certtest.PEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)), 0, "private key"},
		"SEC 1, private":      {certtest.PEM("EC PRIVATE KEY", sec1), 0, "private key"},
		"encrypted":           {certtest.PEM("ENCRYPTED PRIVATE KEY", pkcs8), 0, "private key"},
		"a certificate":       {certtest.PEM("CERTIFICATE", pkcs8), 0, "openssl x509"},
		"another block":       {certtest.PEM("MESSAGE", pkcs8), 0, `"MESSAGE"`},
		"one good, one weak":  {good + small, 0, "2048"},
		"P-224":               {publicPEM(t, &ecKey(t, elliptic.P224()).PublicKey), 0, "P-256"},
		"X25519":              {publicPEM(t, exchange.PublicKey()), 0, "cannot be used"},
		"a secret":            {testSecret, 0, "neither"},
		"a JWK Set":           {"\n " + set, 2, ""},
		"a private JWK":       {setOf(t, jwkOf(t, rsaKey.Public(), nil), jwkOf(t, ecPrivate.Public(), jwk{"d": "AAAA"})), 0, "private key"},
		"a bare JWK":          {"\n" + bare(rsaKey.Public(), jwk{"kid": "a"}), 1, ""},
		"a bare JWK, use enc": {bare(rsaKey.Public(), jwk{"use": "enc"}), 0, "not sig"},
		"a bare JWK, kid 7":   {bare(rsaKey.Public(), jwk{"kid": 7}), 0, "not a JWK"},
		"two bare JWKs":       {strings.Repeat(bare(rsaKey.Public(), nil), 2), 0, "not a JWK Set"},
		"an empty set":        {`{"keys":[]}`, 0, "no key of the set"},
		"a set without a key": {setOf(t, jwkOf(t, ecPrivate.Public(), jwk{"use": "enc"})), 0, "key 1 of the set"},
		"cut":                 {cut, 0, "1 begin, 0 can be read"},
		"cut, before":         {cut + "\n" + good, 0, "2 begin, 1 can be read"},
		"cut, between":        {good + strings.Replace(pkcs1, "-----END RSA PUBLIC KEY-----\n", "", 1) + good, 0, "3 begin, 2 can be read"},
		"garbage":             {good + strings.Replace(good, "MII", "M!I", 1) + good, 0, "corrupt"},
		"indented":            {"  " + strings.ReplaceAll(good, "\n", "\n  ") + "\n" + good, 0, "indented"},
		"commented out":       {good + "# " + good, 0, "commented out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, left, err := ParseKeys([]byte(test.contents))
			if len(keys) != test.keys || len(left) != 0 || (err == nil) != (test.keys > 0) {
				t.Errorf("%d keys, left out %v, %v", len(keys), left, err)
			}
			if err != nil && !strings.Contains(err.Error(), test.message) {
				t.Errorf("the error is %v, want %q", err, test.message)
			}
		})
	}
}

// TestParseJSON checks that unusable keys of a JWK Set are ignored (RFC 7517, section 5);
// private and symmetric keys are an error.
func TestParseJSON(t *testing.T) {
	t.Parallel()
	private := certtest.Keys(t)
	public, edwards, point := private[0].Public(), private[1].Public(), private[2].Public()
	good := jwkOf(t, point, jwk{
		"kid": "good", "use": "sig", "alg": "ES256", "key_ops": []string{"verify"}, "x5t": "x", "x5c": []string{"!"}, "x5u": "http://a",
	})
	with := func(more jwk) any { return jwkOf(t, public, more) }
	check := func(want string, entries map[string]any) {
		t.Helper()
		for name, entry := range entries {
			keys, left, err := parseJSON([]byte(setOf(t, entry, good)))
			got := "spoils"
			switch {
			case err == nil && len(left) == 0 && len(keys) == 2:
				got = "kept"
			case err == nil && len(left) == 1 && len(keys) == 1:
				got = "ignored"
			case err == nil || !strings.Contains(err.Error(), "key 1 of the set"):
				t.Errorf("%s: %d keys, left out %v, %v", name, len(keys), left, err)
			}
			if got != want {
				t.Errorf("%s is %s, want %s: %v, %v", name, got, want, left, err)
			}
			if err == nil && (keys[len(keys)-1].ID != "good" || keys[len(keys)-1].Alg != "ES256") {
				t.Errorf("%s: the good key is %q for %v", name, keys[len(keys)-1].ID, keys[len(keys)-1].Alg)
			}
		}
	}
	check("kept", map[string]any{
		"RSA, padded":              with(jwk{"e": "AQAB=="}),
		"Ed25519":                  jwkOf(t, edwards, jwk{"alg": "EdDSA"}),
		"Ed25519, alg of RFC 9864": jwkOf(t, edwards, jwk{"alg": "Ed25519"}),
		"P-384":                    jwkOf(t, private[3].Public(), nil),
		"P-521":                    jwkOf(t, private[4].Public(), jwk{"alg": "ES512"}),
		"unknown members":          with(jwk{"nbf": 1, "issuer": map[string]int{"a": 1}}),
		"key_ops with others":      with(jwk{"key_ops": []string{"sign", "verify"}}),
	})
	check("ignored", map[string]any{
		"a field twice":            json.RawMessage(`{"kty":"AKP","kid":"pq","kid":"pq","alg":"ML-DSA-65","pub":"AAAA"}`),
		"not UTF-8":                json.RawMessage("{\"kty\":\"EC\",\"kid\":\"\xff\"}"),
		"a list":                   []string{"keys"},
		"null":                     nil,
		"no kty":                   jwk{"kid": "x"},
		"unknown kty":              jwk{"kty": "AKP", "pub": "AAAA"},
		"use enc":                  with(jwk{"use": "enc"}),
		"key_ops without verify":   with(jwk{"key_ops": []string{"encrypt"}}),
		"key_ops, empty":           with(jwk{"key_ops": []string{}}),
		"alg for encryption":       with(jwk{"alg": "RSA-OAEP"}),
		"alg HS256":                with(jwk{"alg": "HS256"}),
		"alg in small letters":     with(jwk{"alg": "rs256"}),
		"alg of another curve":     jwkOf(t, point, jwk{"alg": "ES384"}),
		"1024 bits":                with(jwk{"n": encode(string(new(big.Int).Lsh(big.NewInt(1), 1023).Bytes()))}),
		"exponent 1":               with(jwk{"e": "AQ"}),
		"no point":                 jwkOf(t, point, jwk{"y": "AAAA"}),
		"secp256k1":                jwkOf(t, point, jwk{"crv": "secp256k1"}),
		"a point of another curve": jwkOf(t, point, jwk{"crv": "P-384"}),
	})
	check("spoils", map[string]any{
		"symmetric":        jwk{"kty": "oct", "use": "enc", "k": encode(testSecret)},
		"RSA, private":     with(jwk{"d": "AAAA"}),
		"RSA, a prime":     with(jwk{"p": "AAAA"}),
		"EC, private":      jwkOf(t, point, jwk{"d": "AAAA", "use": "enc"}),
		"Ed25519, private": jwkOf(t, edwards, jwk{"d": "AAAA"}),
	})
	for _, text := range []string{"", "null", "[]", `{"keys":null}`, `{"keys":{}}`, `{"Keys":[{}]}`, `{"keys":[]`, "<html>"} {
		if keys, _, err := parseJSON([]byte(text)); err == nil || keys != nil {
			t.Errorf("%s: %d keys, %v", text, len(keys), err)
		}
	}
}
