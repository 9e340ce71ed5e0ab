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
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
		key = jwk{"kty": "RSA", "n": base64URL(public.N.Bytes()), "e": base64URL(big.NewInt(int64(public.E)).Bytes())}
	case *ecdsa.PublicKey:
		point := must.Get(public.Bytes())(t) // 4, X, Y
		half := (len(point) - 1) / 2
		key = jwk{
			"kty": "EC", "crv": public.Curve.Params().Name,
			"x": base64URL(point[1 : 1+half]), "y": base64URL(point[1+half:]),
		}
	case ed25519.PublicKey:
		key = jwk{"kty": "OKP", "crv": "Ed25519", "x": base64URL(public)}
	default:
		t.Fatalf("no JWK of %T", public)
	}
	maps.Copy(key, more)
	return key
}

func base64URL(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// setOf returns a JWK Set as text.
func setOf(t *testing.T, keys ...any) string {
	t.Helper()
	return string(must.Get(json.Marshal(map[string]any{"keys": keys}))(t))
}

// block returns a PEM block.
func block(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func TestReadPublicKeys(t *testing.T) {
	t.Parallel()
	private := privateKeys(t)
	rsaKey := private[0].(*rsa.PrivateKey)
	ecPrivate := private[2].(*ecdsa.PrivateKey)
	exchange := must.Get(ecdh.X25519().GenerateKey(rand.Reader))(t)
	bare := func(public any, more jwk) string {
		set := setOf(t, jwkOf(t, public, more))
		return strings.TrimSuffix(strings.TrimPrefix(set, `{"keys":[`), `]}`)
	}
	small := &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 1023), E: 65537}
	pkix := func(public any) string {
		der, err := x509.MarshalPKIXPublicKey(public)
		return block(t, "PUBLIC KEY", der, err)
	}
	pkcs1 := block(t, "RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&rsaKey.PublicKey), nil)
	pkcs8 := must.Get(x509.MarshalPKCS8PrivateKey(rsaKey))(t)
	sec1, err := x509.MarshalECPrivateKey(ecPrivate)
	good := pkix(&rsaKey.PublicKey)
	for name, test := range map[string]struct {
		contents string
		keys     int    // 0: refused
		message  string // a piece of the error
	}{
		"RSA":                  {good, 1, ""},
		"PKCS #1":              {pkcs1, 1, ""},
		"Ed25519":              {pkix(private[1].Public()), 1, ""},
		"EC":                   {pkix(private[2].Public()), 1, ""},
		"several":              {"# of the issuer\n" + good + "\n" + pkcs1 + pkix(private[4].Public()), 3, ""},
		"64":                   {strings.Repeat(good, 64), 64, ""},
		"65":                   {strings.Repeat(good, 65), 0, "at most 64"},
		"PKCS #8, private":     {good + block(t, "PRIVATE KEY", pkcs8, nil), 0, "private key"},
		"PKCS #1, private":     {block(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey), nil), 0, "private key"},
		"SEC 1, private":       {block(t, "EC PRIVATE KEY", sec1, err), 0, "private key"},
		"encrypted":            {block(t, "ENCRYPTED PRIVATE KEY", pkcs8, nil), 0, "encrypted"},
		"a certificate":        {block(t, "CERTIFICATE", pkcs8, nil), 0, "openssl x509"},
		"another block":        {block(t, "MESSAGE", pkcs8, nil), 0, `"MESSAGE"`},
		"garbage in a block":   {block(t, "PUBLIC KEY", []byte("garbage"), nil), 0, "cannot be used"},
		"1024 bits":            {pkix(small), 0, "2048"},
		"one good, one weak":   {good + pkix(small), 0, "2048"},
		"P-224":                {pkix(&ecKey(t, elliptic.P224()).PublicKey), 0, "P-256"},
		"X25519":               {pkix(exchange.PublicKey()), 0, "cannot be used"},
		"empty":                {"", 0, "neither"},
		"text":                 {"hello", 0, "neither"},
		"a secret":             {testSecret, 0, "neither"},
		"a JWK Set":            {"\n " + setOf(t, jwkOf(t, rsaKey.Public(), nil), jwkOf(t, ecPrivate.Public(), nil)), 2, ""},
		"a JWK Set of 65":      {setOf(t, slices.Repeat([]any{jwkOf(t, ecPrivate.Public(), nil)}, 65)...), 0, "at most 64"},
		"a private JWK":        {setOf(t, jwkOf(t, rsaKey.Public(), nil), jwkOf(t, ecPrivate.Public(), jwk{"d": "AAAA"})), 0, "private key"},
		"a bare JWK":           {"\n" + bare(rsaKey.Public(), jwk{"kid": "a"}), 1, ""},
		"a bare JWK, private":  {bare(rsaKey.Public(), jwk{"d": "AAAA"}), 0, "private key"},
		"a bare JWK, use enc":  {bare(rsaKey.Public(), jwk{"use": "enc"}), 0, "not sig"},
		"a bare JWK, kid 7":    {bare(rsaKey.Public(), jwk{"kid": 7}), 0, "not a JWK"},
		"two bare JWKs":        {strings.Repeat(bare(rsaKey.Public(), nil), 2), 0, "not a JWK Set"},
		"no set":               {"{}", 0, "JWK Set"},
		"an empty set":         {`{"keys":[]}`, 0, "no key of the set"},
		"a set without a key":  {setOf(t, jwkOf(t, ecPrivate.Public(), jwk{"use": "enc"})), 0, "key 1 of the set"},
		"more than a megabyte": {good + strings.Repeat("#", 1<<20), 0, "1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReads(t, test.contents, test.keys, test.message)
		})
	}
	if _, _, err := ReadPublicKeys(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// checkReads checks the number of keys in a file, or, if want is 0, the error's message.
func checkReads(t *testing.T, contents string, want int, message string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	must.Do(t, os.WriteFile(path, []byte(contents), 0o600))
	keys, left, err := ReadPublicKeys(path)
	if len(keys) != want || len(left) != 0 || (err == nil) != (want > 0) {
		t.Errorf("%d keys, left out %v, %v", len(keys), left, err)
	}
	if err != nil && (!strings.Contains(err.Error(), message) || !strings.HasPrefix(err.Error(), path+": ")) {
		t.Errorf("the error is %v, want the file and %q", err, message)
	}
}

// TestReadPublicKeysMissesNone checks that an unreadable key anywhere in a file is an error; no
// key is skipped silently. A leading byte order mark is allowed.
func TestReadPublicKeysMissesNone(t *testing.T) {
	t.Parallel()
	public := privateKeys(t)[0].Public().(*rsa.PublicKey)
	der, err := x509.MarshalPKIXPublicKey(public)
	good := block(t, "PUBLIC KEY", der, err)
	other := block(t, "RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(public), nil)
	cut := good[:len(good)/2]
	for name, test := range map[string]struct {
		contents string
		keys     int    // 0: refused
		message  string // a piece of the error
	}{
		"cut":                      {cut, 0, "1 begin, 0 can be read"},
		"cut, at the end":          {good + cut, 0, "2 begin, 1 can be read"},
		"cut, before":              {cut + "\n" + good, 0, "2 begin, 1 can be read"},
		"cut, between":             {good + strings.Replace(other, "-----END RSA PUBLIC KEY-----\n", "", 1) + good, 0, "3 begin, 2 can be read"},
		"garbage":                  {good + strings.Replace(good, "MII", "M!I", 1) + good, 0, "corrupt"},
		"indented":                 {"  " + strings.ReplaceAll(good, "\n", "\n  ") + "\n" + good, 0, "indented"},
		"commented out":            {good + "# " + good, 0, "commented out"},
		"byte order mark":          {"\ufeff" + good + other, 2, ""},
		"byte order mark, JWK Set": {"\ufeff" + setOf(t, jwkOf(t, public, nil)), 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReads(t, test.contents, test.keys, test.message)
		})
	}
}

// TestParseJWKSet checks that unusable keys of a JWK Set are ignored (RFC 7517, section 5);
// private and symmetric keys are an error.
func TestParseJWKSet(t *testing.T) {
	t.Parallel()
	private := privateKeys(t)
	public := private[0].Public()
	point := private[2].Public()
	good := jwkOf(t, point, jwk{"kid": "good", "use": "sig", "alg": "ES256", "key_ops": []string{"verify"}, "x5t": "x", "x5c": []string{"!"}, "x5u": "http://a"})
	with := func(more jwk) any { return jwkOf(t, public, more) }
	for name, test := range map[string]struct {
		key    any
		kept   bool
		spoils bool
	}{
		"RSA":                       {with(nil), true, false},
		"RSA, padded":               {with(jwk{"e": "AQAB=="}), true, false},
		"Ed25519":                   {jwkOf(t, private[1].Public(), jwk{"alg": "EdDSA"}), true, false},
		"Ed25519, alg of RFC 9864":  {jwkOf(t, private[1].Public(), jwk{"alg": "Ed25519"}), true, false},
		"RSA, alg Ed25519":          {with(jwk{"alg": "Ed25519"}), false, false},
		"a field twice":             {json.RawMessage(`{"kty":"AKP","kid":"pq","kid":"pq","alg":"ML-DSA-65","pub":"AAAA"}`), false, false},
		"not UTF-8":                 {json.RawMessage("{\"kty\":\"EC\",\"kid\":\"\xff\"}"), false, false},
		"nested, a field twice":     {json.RawMessage(`{"kty":"x","a":{"b":1,"b":2}}`), false, false},
		"a list":                    {[]string{"keys"}, false, false},
		"x5c a string":              {with(jwk{"x5c": "MII"}), false, false},
		"P-384":                     {jwkOf(t, private[3].Public(), nil), true, false},
		"P-521":                     {jwkOf(t, private[4].Public(), jwk{"alg": "ES512"}), true, false},
		"unknown members":           {with(jwk{"nbf": 1, "issuer": map[string]int{"a": 1}}), true, false},
		"key_ops with others":       {with(jwk{"key_ops": []string{"sign", "verify"}}), true, false},
		"use enc":                   {with(jwk{"use": "enc"}), false, false},
		"key_ops without verify":    {with(jwk{"key_ops": []string{"encrypt"}}), false, false},
		"key_ops, empty":            {with(jwk{"key_ops": []string{}}), false, false},
		"key_ops a string":          {with(jwk{"key_ops": "verify"}), false, false},
		"alg for encryption":        {with(jwk{"alg": "RSA-OAEP"}), false, false},
		"alg of another kind":       {with(jwk{"alg": "ES256"}), false, false},
		"alg HS256":                 {with(jwk{"alg": "HS256"}), false, false},
		"alg none":                  {with(jwk{"alg": "none"}), false, false},
		"alg in small letters":      {with(jwk{"alg": "rs256"}), false, false},
		"alg of another curve":      {jwkOf(t, point, jwk{"alg": "ES384"}), false, false},
		"1024 bits":                 {with(jwk{"n": base64URL(new(big.Int).Lsh(big.NewInt(1), 1023).Bytes())}), false, false},
		"exponent 1":                {with(jwk{"e": "AQ"}), false, false},
		"no exponent":               {with(jwk{"e": ""}), false, false},
		"modulus no base64":         {with(jwk{"n": "!"}), false, false},
		"modulus a number":          {with(jwk{"n": 7}), false, false},
		"no point":                  {jwkOf(t, point, jwk{"y": "AAAA"}), false, false},
		"secp256k1":                 {jwkOf(t, point, jwk{"crv": "secp256k1"}), false, false},
		"a point of another curve":  {jwkOf(t, point, jwk{"crv": "P-384"}), false, false},
		"X25519":                    {jwkOf(t, private[1].Public(), jwk{"crv": "X25519"}), false, false},
		"Ed448":                     {jwkOf(t, private[1].Public(), jwk{"crv": "Ed448"}), false, false},
		"Ed25519, short":            {jwkOf(t, private[1].Public(), jwk{"x": "AAAA"}), false, false},
		"unknown kty":               {jwk{"kty": "AKP", "pub": "AAAA"}, false, false},
		"no kty":                    {jwk{"kid": "x"}, false, false},
		"no object":                 {"key", false, false},
		"null":                      {nil, false, false},
		"symmetric":                 {jwk{"kty": "oct", "k": base64URL([]byte(testSecret))}, false, true},
		"symmetric, for encryption": {jwk{"kty": "oct", "use": "enc", "k": "AAAA"}, false, true},
		"RSA, private":              {with(jwk{"d": "AAAA"}), false, true},
		"RSA, a prime":              {with(jwk{"p": "AAAA"}), false, true},
		"EC, private":               {jwkOf(t, point, jwk{"d": "AAAA", "use": "enc"}), false, true},
		"Ed25519, private":          {jwkOf(t, private[1].Public(), jwk{"d": "AAAA"}), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, left, err := parseJWKSet([]byte(setOf(t, test.key, good)))
			switch {
			case test.spoils:
				if err == nil || !strings.Contains(err.Error(), "key 1 of the set") {
					t.Errorf("%d keys, %v, want an error about the first", len(keys), err)
				}
			case err != nil:
				t.Error(err)
			case test.kept != (len(keys) == 2 && len(left) == 0), !test.kept && (len(keys) != 1 || len(left) != 1):
				t.Errorf("%d keys, left out %v, want it kept: %t", len(keys), left, test.kept)
			case keys[len(keys)-1].id != "good" || !slices.Equal(keys[len(keys)-1].algorithms, []string{"ES256"}):
				t.Errorf("the good key is %q for %v", keys[len(keys)-1].id, keys[len(keys)-1].algorithms)
			}
		})
	}
}

func TestParseJWKSetRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "null", "[]", "{}", `{"keys":null}`, `{"keys":{}}`, `{"Keys":[{}]}`, `{"keys":[]`,
		"<html>", `"keys"`, fmt.Sprintf(`{"keys":[%s]}`, strings.TrimSuffix(strings.Repeat("{},", 1000), ",")),
	} {
		if keys, _, err := parseJWKSet([]byte(text)); err == nil || keys != nil {
			t.Errorf("%.40s: %d keys, %v", text, len(keys), err)
		}
	}
}
