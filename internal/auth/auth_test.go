package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/models"
)

const testSecret = "0123456789abcdef0123456789abcdef"

// sign makes a token of any header and payload, however wrong.
func sign(h func() hash.Hash, secret, header, payload string) string {
	signed := encode(header) + "." + encode(payload)
	mac := hmac.New(h, []byte(secret))
	mac.Write([]byte(signed))
	return signed + "." + encode(string(mac.Sum(nil)))
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// token makes a correctly signed token with that payload.
func token(payload string) string {
	return sign(sha256.New, testSecret, `{"alg":"HS256","typ":"JWT"}`, payload)
}

// headed makes a correctly signed token with that header.
func headed(header string) string { return sign(sha256.New, testSecret, header, `{}`) }

func testVerifier(change func(*Options)) *Verifier {
	options := Options{Keys: []Key{Secret(testSecret).Key()}, Leeway: 5 * time.Second}
	if change != nil {
		change(&options)
	}
	return NewVerifier(options)
}

// at returns a payload with a claim that is so many seconds from now.
func at(claim string, seconds int64) string {
	return fmt.Sprintf(`{%q:%d}`, claim, time.Now().Unix()+seconds)
}

func TestVerifyAccepts(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"no claims":           token(`{}`),
		"not expired":         token(at("exp", 60)),
		"expired in leeway":   token(at("exp", -2)),
		"exp with fraction":   token(`{"exp":99999999999.5}`),
		"exp as 1e11":         token(`{"exp":1e11}`),
		"exp in eternity":     token(`{"exp":1e400}`),
		"nbf in the past":     token(at("nbf", -60)),
		"nbf in leeway":       token(at("nbf", 2)),
		"nbf before the ages": token(`{"nbf":-1e400}`),
		"iat of any kind":     token(`{"iat":"yesterday"}`),
		"sub of any kind":     token(`{"sub":7}`),
		"other case is other": token(`{"EXP":0,"Exp":"x","NBF":99999999999}`),
		"keys are ignored":    headed(`{"alg":"HS256","jku":"http://127.0.0.1:1","jwk":{},"x5u":"x","x5c":["x"],"kid":"x"}`),
		"no typ":              headed(`{"alg":"HS256"}`),
		"white space in JSON": headed("{ \"alg\" :\n\"HS256\" }"),
	}
	verifier := testVerifier(nil)
	for name, token := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second time from the cache
				if _, err := verifier.Verify(token); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	good := token(`{"sub":"x"}`)
	parts := strings.Split(good, ".")
	other := strings.Split(token(`{"sub":"y"}`), ".")
	none := func(alg string) string {
		return encode(`{"alg":"`+alg+`"}`) + "." + encode(`{}`) + "."
	}
	const form, signature = "well-formed", "not signed with a key"
	tests := map[string]struct{ token, message string }{
		"empty":                   {"", form},
		"one segment":             {"x", form},
		"two segments":            {parts[0] + "." + parts[1], form},
		"four segments":           {good + ".", form},
		"five segments":           {good + ".x.y", form},
		"only dots":               {"..", form},
		"padding":                 {good + "=", form},
		"line end":                {good[:10] + "\n" + good[10:], form},
		"space":                   {good + " x", form},
		"not canonical":           {nonCanonical(good), form},
		"none":                    {none("none"), signature},
		"None":                    {none("None"), signature},
		"nOnE with signature":     {none("nOnE") + parts[2], signature},
		"no signature":            {parts[0] + "." + parts[1] + ".", signature},
		"signature of another":    {parts[0] + "." + parts[1] + "." + other[2], signature},
		"payload of another":      {parts[0] + "." + other[1] + "." + parts[2], signature},
		"short signature":         {good[:len(good)-3], signature},
		"other secret":            {sign(sha256.New, testSecret+"x", `{"alg":"HS256"}`, `{}`), signature},
		"HS384":                   {sign(sha512.New384, testSecret, `{"alg":"HS384"}`, `{}`), signature},
		"HS512":                   {sign(sha512.New, testSecret, `{"alg":"HS512"}`, `{}`), signature},
		"hs256":                   {headed(`{"alg":"hs256"}`), signature},
		"RS256 named, HMAC used":  {headed(`{"alg":"RS256"}`), signature},
		"no alg":                  {headed(`{"typ":"JWT"}`), signature},
		"ALG":                     {headed(`{"ALG":"HS256"}`), signature},
		"alg is a number":         {headed(`{"alg":256}`), signature},
		"crit":                    {headed(`{"alg":"HS256","crit":["exp"],"exp":1}`), form},
		"crit empty":              {headed(`{"alg":"HS256","crit":[]}`), form},
		"crit null":               {headed(`{"alg":"HS256","crit":null}`), form},
		"header twice alg":        {headed(`{"alg":"none","alg":"HS256"}`), form},
		"header is an array":      {headed(`["HS256"]`), form},
		"header is null":          {headed(`null`), form},
		"header is no JSON":       {headed(`{"alg":"HS256"`), form},
		"header with two values":  {headed(`{"alg":"HS256"}{}`), form},
		"header not UTF-8":        {headed("{\"alg\":\"HS256\",\"x\":\"\xff\"}"), form},
		"payload is null":         {token(`null`), form},
		"payload is an array":     {token(`[]`), form},
		"payload is no JSON":      {token(`{"sub":`), form},
		"payload is empty":        {token(``), form},
		"payload not UTF-8":       {token("{\"sub\":\"\xff\"}"), form},
		"claim twice":             {token(`{"exp":99999999999,"exp":0}`), form},
		"claim twice, nested":     {token(`{"x":{"a":1,"a":1}}`), form},
		"expired":                 {token(at("exp", -60)), "expired"},
		"exp 0":                   {token(`{"exp":0}`), "expired"},
		"exp -1":                  {token(`{"exp":-1}`), "expired"},
		"exp before the ages":     {token(`{"exp":-1e400}`), "expired"},
		"exp is a string":         {token(`{"exp":"99999999999"}`), "exp must be a number"},
		"exp is null":             {token(`{"exp":null}`), "exp must be a number"},
		"exp is a boolean":        {token(`{"exp":true}`), "exp must be a number"},
		"exp is an array":         {token(`{"exp":[99999999999]}`), "exp must be a number"},
		"exp is an object":        {token(`{"exp":{}}`), "exp must be a number"},
		"nbf is a string":         {token(`{"nbf":"0"}`), "nbf must be a number"},
		"nbf is null":             {token(`{"nbf":null}`), "nbf must be a number"},
		"nbf in the future":       {token(at("nbf", 60)), "not valid yet"},
		"nbf after the ages":      {token(`{"nbf":1e400}`), "not valid yet"},
		"public key as HMAC":      {sign(sha256.New, publicKey(t), `{"alg":"HS256"}`, `{}`), signature},
		"escaped alg, same value": {headed(`{"alg":"none","\u0061lg":"HS256"}`), form},
	}
	verifier := testVerifier(nil)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // a refused token must not come out of the cache either
				_, err := verifier.Verify(tt.token)
				checkRefusal(t, err, models.CodeUnauthorized, tt.message)
			}
		})
	}
}

func checkRefusal(t *testing.T, err error, code models.Code, message string) {
	t.Helper()
	var failure *models.Error
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want an *Error", err)
	}
	if failure.Code != code || !strings.Contains(failure.Message, message) {
		t.Errorf("got %d %q, want %d with %q", failure.Code, failure.Message, code, message)
	}
	if strings.Contains(failure.Message, testSecret) || strings.Contains(failure.Error(), testSecret) {
		t.Error("the error holds the secret")
	}
}

// nonCanonical changes the unused bits at the end of the signature.
func nonCanonical(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(token) - 1
	return token[:last] + string(alphabet[strings.IndexByte(alphabet, token[last])|1])
}

// publicKey returns an RSA key in the form in which anybody may know it.
func publicKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func TestVerifyConfigured(t *testing.T) {
	t.Parallel()
	issuer := func(o *Options) { o.Issuer = "nursery" }
	audience := func(o *Options) { o.Audience = "plants" }
	scope := func(o *Options) { o.Scope = "plants:create" }
	tests := map[string]struct {
		change  func(*Options)
		payload string
		code    models.Code // 0: accepted
		message string
	}{
		"issuer":             {issuer, `{"iss":"nursery"}`, 0, ""},
		"other issuer":       {issuer, `{"iss":"Nursery"}`, 401, "iss"},
		"no issuer":          {issuer, `{"Iss":"nursery"}`, 401, "iss"},
		"issuer as array":    {issuer, `{"iss":["nursery"]}`, 401, "iss"},
		"audience":           {audience, `{"aud":"plants"}`, 0, ""},
		"one of audiences":   {audience, `{"aud":["trees","plants"]}`, 0, ""},
		"other audience":     {audience, `{"aud":["trees"]}`, 401, "aud"},
		"no audience":        {audience, `{}`, 401, "aud"},
		"empty audiences":    {audience, `{"aud":[]}`, 401, "aud"},
		"audience as number": {audience, `{"aud":[1,"plants"]}`, 401, "aud"},
		"audience as object": {audience, `{"aud":{"plants":1}}`, 401, "aud"},
		"scope":              {scope, `{"scope":"a plants:create b"}`, 0, ""},
		"other scope":        {scope, `{"scope":"plants:creates"}`, 403, "plants:create"},
		"no scope":           {scope, `{}`, 403, "plants:create"},
		"exp required":       {func(o *Options) { o.RequireExp = true }, `{"exp":99999999999}`, 0, ""},
		"exp missing":        {func(o *Options) { o.RequireExp = true }, `{}`, 401, "exp"},
		"no leeway":          {func(o *Options) { o.Leeway = 0 }, at("exp", -1), 401, "expired"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := testVerifier(tt.change).Verify(token(tt.payload))
			if tt.code == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			checkRefusal(t, err, tt.code, tt.message)
		})
	}
}

func TestVerifySubject(t *testing.T) {
	t.Parallel()
	claims, err := testVerifier(nil).Verify(token(`{"sub":"gärtner"}`))
	if err != nil || claims.Subject != "gärtner" {
		t.Errorf("got %+v, %v", claims, err)
	}
}

// TestCachedTokenExpires shows that a token in the cache is still held against
// the clock.
func TestCachedTokenExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		verifier := testVerifier(nil)
		token := token(at("exp", 60))
		if _, err := verifier.Verify(token); err != nil {
			t.Fatal(err)
		}
		time.Sleep(66 * time.Second)
		_, err := verifier.Verify(token)
		checkRefusal(t, err, models.CodeUnauthorized, "expired")
	})
}

// TestForgedTokenMissesCache changes each character of a token that is in the
// cache.
func TestForgedTokenMissesCache(t *testing.T) {
	t.Parallel()
	verifier := testVerifier(nil)
	good := token(`{"sub":"x"}`)
	if _, err := verifier.Verify(good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		forged := []byte(good)
		if forged[i] ^= 1; forged[i] == good[i] {
			t.Fatal("not changed")
		}
		if _, err := verifier.Verify(string(forged)); err == nil {
			t.Errorf("accepted with character %d changed", i)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 10
	c := newCache(limit)
	claims := new(Claims)
	used := digest{255}
	c.put(used, claims)
	for i := range byte(200) {
		c.put(digest{i}, claims)
		if n := len(c.younger) + len(c.older); n > limit {
			t.Fatalf("%d entries after %d", n, i)
		}
		if c.get(used) == nil {
			t.Fatalf("the one in use was dropped after %d", i)
		}
		if c.get(digest{i}) == nil {
			t.Fatalf("%d was dropped at once", i)
		}
	}
	if c.get(digest{0}) != nil {
		t.Error("the first one is still there")
	}
}

func TestIssue(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		grant  Grant
		accept func(*Options)
		hasExp bool
	}{
		"plain":    {Grant{}, nil, false},
		"with ttl": {Grant{TTL: time.Hour}, func(o *Options) { o.RequireExp = true }, true},
		"with all": {
			Grant{Subject: "x", Issuer: "i", Audience: "a", Scope: "s", TTL: time.Hour},
			func(o *Options) { o.Issuer, o.Audience, o.Scope = "i", "a", "s" }, true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			issued, err := Issue(Secret(testSecret), tt.grant, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			claims, err := testVerifier(tt.accept).Verify(issued)
			if err != nil {
				t.Fatal(err)
			}
			if claims.Subject != tt.grant.Subject || (claims.expires != nil) != tt.hasExp {
				t.Errorf("claims %+v", claims)
			}
		})
	}
}
