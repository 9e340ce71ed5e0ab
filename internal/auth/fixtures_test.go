package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/internal/must"
)

// A kind is one algorithm and a key for it.
type kind struct {
	alg    string
	key    Key
	signer any    // for jwt.SigningMethod.Sign
	public []byte // the public key in PEM
}

// kinds returns a kind for each algorithm.
func kinds(t *testing.T) []kind {
	t.Helper()
	private := privateKeys(t)
	all := []kind{{alg: "HS256", key: Secret(testSecret).Key(), signer: []byte(testSecret), public: publicPEM(t, private[0])}}
	for _, key := range private {
		algorithms := must.Get(algorithmsOf(key.Public()))(t)
		for _, alg := range algorithms {
			// Bound to all algorithms of its type.
			public := must.Get(newPublicKey("", "", key.Public()))(t)
			all = append(all, kind{alg, public, key, publicPEM(t, key)})
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

func (k kind) verifier() *Verifier {
	return NewVerifier(Options{Keys: []Key{k.key}})
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

// An attack is a token, and a part of the expected message.
type attack struct{ token, message string }

// The expected messages.
const (
	badForm      = "well-formed"
	badSignature = "not signed with a key"
)

// attacks returns tokens that a verifier with only a key of kind k must reject (C4.21 to
// C4.23).
func attacks(k kind) map[string]attack {
	all := map[string]attack{
		"header twice alg":        {k.headed(`{"alg":"none","alg":"HS256"}`), badForm},
		"escaped alg, same value": {k.headed(`{"alg":"none","\u0061lg":"HS256"}`), badForm},
		"header is an array":      {k.headed(`["HS256"]`), badForm},
		"header is null":          {k.headed(`null`), badForm},
		"header is not JSON":      {k.headed(`{"alg":"HS256"`), badForm},
		"header with two values":  {k.headed(`{"alg":"HS256"}{}`), badForm},
		"header not UTF-8":        {k.headed("{\"alg\":\"HS256\",\"x\":\"\xff\"}"), badForm},
		"crit":                    {k.headed(`{"alg":"HS256","crit":["exp"],"exp":1}`), badForm},
		"crit empty":              {k.headed(`{"alg":"HS256","crit":[]}`), badForm},
		"crit null":               {k.headed(`{"alg":"HS256","crit":null}`), badForm},
		"no alg":                  {k.headed(`{"typ":"JWT"}`), badSignature},
		"ALG":                     {k.headed(`{"ALG":"HS256"}`), badSignature},
		"alg is a number":         {k.headed(`{"alg":256}`), badSignature},
		"alg in small letters":    {k.headed(`{"alg":"` + strings.ToLower(k.alg) + `"}`), badSignature},
		"alg and a space":         {k.headed(`{"alg":"` + k.alg + ` "}`), badSignature},
		"payload is null":         {k.token(`null`), badForm},
		"payload is an array":     {k.token(`[]`), badForm},
		"payload is not JSON":     {k.token(`{"sub":`), badForm},
		"payload is empty":        {k.token(``), badForm},
		"payload not UTF-8":       {k.token("{\"sub\":\"\xff\"}"), badForm},
		"claim twice":             {k.token(`{"exp":99999999999,"exp":0}`), badForm},
		"claim twice, nested":     {k.token(`{"x":{"a":1,"a":1}}`), badForm},
		"expired":                 {k.token(at("exp", -2*60*60)), "expired"},
		"exp 0":                   {k.token(`{"exp":0}`), "expired"},
		"exp -1":                  {k.token(`{"exp":-1}`), "expired"},
		"exp before the ages":     {k.token(`{"exp":-1e400}`), "expired"},
		"exp is a string":         {k.token(`{"exp":"99999999999"}`), "exp must be a number"},
		"exp is null":             {k.token(`{"exp":null}`), "exp must be a number"},
		"exp is a boolean":        {k.token(`{"exp":true}`), "exp must be a number"},
		"exp is an array":         {k.token(`{"exp":[99999999999]}`), "exp must be a number"},
		"exp is an object":        {k.token(`{"exp":{}}`), "exp must be a number"},
		"nbf is a string":         {k.token(`{"nbf":"0"}`), "nbf must be a number"},
		"nbf is null":             {k.token(`{"nbf":null}`), "nbf must be a number"},
		"nbf in the future":       {k.token(at("nbf", 2*60*60)), "not valid yet"},
		"nbf after the ages":      {k.token(`{"nbf":1e400}`), "not valid yet"},
	}
	addForgeries(k, all)
	addConfusions(k, all)
	return all
}

// addForgeries adds tokens forged from a valid one without the key.
func addForgeries(k kind, all map[string]attack) {
	good := k.token(`{"sub":"x"}`)
	parts, other := strings.Split(good, "."), strings.Split(k.token(`{"sub":"y"}`), ".")
	signed := parts[0] + "." + parts[1] + "."
	bare, _ := decodeSegment(parts[2])
	maps.Copy(all, map[string]attack{
		"empty":                    {"", "the access token is empty"},
		"one segment":              {"x", badForm},
		"two segments":             {parts[0] + "." + parts[1], badForm},
		"four segments":            {good + ".", badForm},
		"five segments":            {good + ".x.y", badForm},
		"only dots":                {"..", badForm},
		"padding":                  {good + "=", badForm},
		"line end":                 {good[:10] + "\n" + good[10:], badForm},
		"space":                    {good + " x", badForm},
		"no signature":             {signed, badSignature},
		"signature of another":     {signed + other[2], badSignature},
		"payload of another":       {parts[0] + "." + other[1] + "." + parts[2], badSignature},
		"short signature":          {signed + encode(bare[:len(bare)-1]), badSignature},
		"long signature":           {signed + encode(bare+"\x00"), badSignature},
		"signature of zeros":       {signed + encode(strings.Repeat("\x00", len(bare))), badSignature},
		"signature of ones":        {signed + encode(strings.Repeat("\xff", len(bare))), badSignature},
		"signature, a zero before": {signed + encode("\x00"+bare), badSignature},
		"none with signature":      {encode(`{"alg":"nOnE"}`) + "." + encode(`{}`) + "." + parts[2], badSignature},
	})
	if len(bare)%3 != 0 { // else every bit of the last character counts
		all["not canonical"] = attack{nonCanonical(good), badForm}
	}
	for _, alg := range []string{"none", "None", "NONE", "", "null"} {
		all["not signed, alg "+alg] = attack{encode(`{"alg":"`+alg+`"}`) + "." + encode(`{}`) + ".", badSignature}
	}
}

// addConfusions adds tokens signed by an algorithm other than the one in the header, with
// another key, or with the public key as an HMAC secret.
func addConfusions(k kind, all map[string]attack) {
	for _, alg := range append(algorithms(), "HS384", "HS512") {
		if alg != k.alg {
			all["claims to be "+alg] = attack{k.signAs(`{"alg":"`+alg+`"}`, `{}`), badSignature}
		}
	}
	hmac := func(alg string, secret []byte) string {
		return kind{alg: alg, signer: secret}.headed(`{"alg":"HS256"}`)
	}
	trimmed := []byte(strings.TrimSpace(string(k.public)))
	block, _ := pem.Decode(k.public)
	for _, alg := range []string{"HS256", "HS384", "HS512"} {
		all[alg+" by the public key"] = attack{hmac(alg, k.public), badSignature}
		all[alg+" by the public key, trimmed"] = attack{hmac(alg, trimmed), badSignature}
		all[alg+" by the public key, DER"] = attack{hmac(alg, block.Bytes), badSignature}
		all[alg+" by an empty key"] = attack{hmac(alg, []byte{}), badSignature}
	}
	all["by another secret"] = attack{sign(sha256.New, testSecret+"x", `{"alg":"HS256"}`, `{}`), badSignature}
	all["HS384 by the secret"] = attack{hmac("HS384", []byte(testSecret)), badSignature}
	all["HS512 by the secret"] = attack{hmac("HS512", []byte(testSecret)), badSignature}
}

func decodeSegment(s string) (string, error) {
	b, err := jwt.NewParser().DecodeSegment(s)
	return string(b), err
}

// nonCanonical changes the unused bits at the end of the signature.
func nonCanonical(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(token) - 1
	return token[:last] + string(alphabet[strings.IndexByte(alphabet, token[last])|1])
}
