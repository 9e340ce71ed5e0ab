package auth

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/must"
	"plantstore/models"
)

const testSecret = "0123456789abcdef0123456789abcdef"

// sign makes a token of any header and payload, valid or not.
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

func testVerifier(change func(*Options)) *Verifier {
	options := Options{Keys: []Key{Secret(testSecret).Key()}}
	if change != nil {
		change(&options)
	}
	return NewVerifier(options)
}

// at returns a payload with a claim that is so many seconds from now.
func at(claim string, seconds int64) string {
	return fmt.Sprintf(`{%q:%d}`, claim, time.Now().Unix()+seconds)
}

// TestVerifyAccepts checks valid tokens with each kind of key. HS256 in a header stands for the
// algorithm of the key.
func TestVerifyAccepts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ header, payload string }{
		"no claims":           {"", `{}`},
		"not expired":         {"", at("exp", 60)},
		"exp with fraction":   {"", `{"exp":99999999999.5}`},
		"exp as 1e11":         {"", `{"exp":1e11}`},
		"exp in eternity":     {"", `{"exp":1e400}`},
		"nbf in the past":     {"", at("nbf", -60)},
		"nbf before the ages": {"", `{"nbf":-1e400}`},
		"iat of any kind":     {"", `{"iat":"yesterday"}`},
		"sub of any kind":     {"", `{"sub":7}`},
		"other case is other": {"", `{"EXP":0,"Exp":"x","NBF":99999999999}`},
		"keys are ignored":    {`{"alg":"HS256","jku":"http://127.0.0.1:1","jwk":{},"x5u":"x","x5c":["x"],"kid":"x"}`, `{}`},
		"kid of another type": {`{"alg":"HS256","kid":7}`, `{}`},
		"no typ":              {`{"alg":"HS256"}`, `{}`},
		"white space in JSON": {"{ \"alg\" :\n\"HS256\" }", `{}`},
	}
	for _, kind := range kinds(t) {
		verifier := kind.verifier()
		for name, test := range tests {
			t.Run(kind.alg+" "+name, func(t *testing.T) {
				t.Parallel()
				token := kind.sign(cmp.Or(test.header, `{"alg":"HS256","typ":"JWT"}`), test.payload)
				for range 2 { // the second time from the cache
					if _, err := verifier.Verify(token); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds(t) {
		verifier := kind.verifier()
		for name, test := range attacks(kind) {
			t.Run(kind.alg+" "+name, func(t *testing.T) {
				t.Parallel()
				for range 2 { // a rejected token must not be cached
					_, err := verifier.Verify(test.token)
					checkRefusal(t, err, models.CodeUnauthorized, test.message)
				}
			})
		}
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

func TestVerifyConfigured(t *testing.T) {
	t.Parallel()
	issuer := func(o *Options) { o.Issuers = []string{"nursery", "greenhouse"} }
	audience := func(o *Options) { o.Audiences = []string{"plants", "api"} }
	scope := func(o *Options) { o.Scope = "plants:create" }
	tests := map[string]struct {
		change  func(*Options)
		payload string
		code    models.Code // 0: accepted
		message string
	}{
		"issuer":             {issuer, `{"iss":"nursery"}`, 0, ""},
		"second issuer":      {issuer, `{"iss":"greenhouse"}`, 0, ""},
		"other issuer":       {issuer, `{"iss":"Nursery"}`, 401, "iss"},
		"no issuer":          {issuer, `{"Iss":"nursery"}`, 401, "required here: iss"},
		"issuer as array":    {issuer, `{"iss":["nursery"]}`, 401, "iss"},
		"audience":           {audience, `{"aud":"plants"}`, 0, ""},
		"second audience":    {audience, `{"aud":["trees","api"]}`, 0, ""},
		"one of audiences":   {audience, `{"aud":["trees","plants"]}`, 0, ""},
		"other audience":     {audience, `{"aud":["trees"]}`, 401, "aud"},
		"no audience":        {audience, `{}`, 401, "required here: aud"},
		"empty audiences":    {audience, `{"aud":[]}`, 401, "aud"},
		"audience as number": {audience, `{"aud":[1,"plants"]}`, 401, "aud"},
		"audience as object": {audience, `{"aud":{"plants":1}}`, 401, "aud"},
		"scope":              {scope, `{"scope":"a plants:create b"}`, 0, ""},
		"other scope":        {scope, `{"scope":"plants:creates"}`, 403, "plants:create"},
		"no scope":           {scope, `{}`, 403, "plants:create"},
		"scope, array":       {scope, `{"scope":["a","plants:create"]}`, 0, ""},
		"scp":                {scope, `{"scp":"a plants:create"}`, 0, ""},
		"scp, array":         {scope, `{"scp":["a","plants:create"]}`, 0, ""},
		"scope before scp":   {scope, `{"scope":"a","scp":["plants:create"]}`, 403, "plants:create"},
		"scp, other scope":   {scope, `{"scp":["plants"]}`, 403, "plants:create"},
		"scp, not strings":   {scope, `{"scp":["plants:create",1]}`, 403, "plants:create"},
		"scp, two in one":    {scope, `{"scp":["a plants:create"]}`, 403, "plants:create"},
		"roles":              {scope, `{"roles":["plants:create"],"permissions":["plants:create"]}`, 403, "plants:create"},
		"exp required":       {func(o *Options) { o.RequireExp = true }, `{"exp":99999999999}`, 0, ""},
		"exp missing":        {func(o *Options) { o.RequireExp = true }, `{}`, 401, "required here: exp"},
		"all missing":        {func(o *Options) { issuer(o); audience(o); o.RequireExp = true }, `{"aud":""}`, 401, "required here: exp, iss, aud"},
		"two missing":        {func(o *Options) { issuer(o); audience(o) }, `{"aud":[]}`, 401, "required here: iss, aud"},
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

// TestVerifySubject checks that the subject is returned as it is, up to 255 bytes.
func TestVerifySubject(t *testing.T) {
	t.Parallel()
	verifier := testVerifier(nil)
	for _, want := range []string{"gärtner", strings.Repeat("x", 255)} {
		sent := token(`{"sub":"` + want + `"}`)
		for range 2 { // the second time from the cache
			if subject, err := verifier.Verify(sent); err != nil || subject != want {
				t.Errorf("got %q, %v", subject, err)
			}
		}
	}
	_, err := verifier.Verify(token(`{"sub":"` + strings.Repeat("ä", 128) + `"}`))
	checkRefusal(t, err, models.CodeUnauthorized, "sub must be at most 255 bytes long")
}

// TestLeeway checks the exact limits of exp and nbf (C4.22), of a new token and of one in the
// cache.
func TestLeeway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		verifier, start := testVerifier(nil), time.Now()
		early, short := token(at("nbf", 6)), token(at("exp", 60))
		for _, step := range []struct {
			after time.Duration
			token string
			want  string // in the message; empty: accepted
		}{
			{0, token(at("exp", -5)), "expired"},
			{0, token(at("exp", -4)), ""},
			{0, token(at("nbf", 5)), ""},
			{0, early, "not valid yet"},
			{time.Second, early, ""},
			{time.Second, short, ""},
			{65*time.Second - 1, short, ""},
			{65 * time.Second, short, "expired"},
			{66 * time.Second, early, ""},
		} {
			time.Sleep(time.Until(start.Add(step.after)))
			_, err := verifier.Verify(step.token)
			if step.want != "" {
				checkRefusal(t, err, models.CodeUnauthorized, step.want)
			} else if err != nil {
				t.Errorf("after %v: %v", step.after, err)
			}
		}
	})
}

// TestCacheIsBounded checks that the cache of verified tokens has a limit.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	cache := testVerifier(nil).trusted.Load()
	const size = 10_000
	for i := range 2 * cacheBytes / size {
		cache.put(fmt.Sprintf("%0*d", size, i), verified{})
		if n := len(cache.verified); n == 0 || n*size > cacheBytes {
			t.Fatalf("%d tokens in the cache", n)
		}
	}
}

// TestForgedTokenMissesCache changes each character of a token that is in the
// cache.
func TestForgedTokenMissesCache(t *testing.T) {
	t.Parallel()
	verifier := testVerifier(nil)
	good := token(`{"sub":"x"}`)
	must.Get(verifier.Verify(good))(t)
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
			func(o *Options) { o.Issuers, o.Audiences, o.Scope = []string{"i"}, []string{"a"}, "s" }, true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			issued := must.Get(Issue(Secret(testSecret), tt.grant, time.Now()))(t)
			v := testVerifier(tt.accept)
			subject, err := v.Verify(issued)
			if err != nil || subject != tt.grant.Subject {
				t.Errorf("%q, %v", subject, err)
			}
			claims, err := v.parse(v.own, issued)
			if err != nil || (claims.ExpiresAt != nil) != tt.hasExp {
				t.Errorf("%+v, %v", claims, err)
			}
		})
	}
}

// TestStats checks that Stats counts tokens in the cache and all others.
func TestStats(t *testing.T) {
	t.Parallel()
	v := testVerifier(nil)
	good := token(`{"sub":"a"}`)
	for _, sent := range []string{good, good, "none", "none", good, token(`{"sub":"b"}`)} {
		_, _ = v.Verify(sent)
	}
	if got, want := v.Stats(), (Stats{CacheHits: 2, CacheMisses: 4, Refused: [reasons]uint64{ReasonMalformed: 2}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestEd25519 checks that alg may have the name of RFC 9864 for EdDSA, only with such a key.
func TestEd25519(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds(t) {
		_, err := kind.verifier().Verify(kind.signAs(`{"alg":"Ed25519"}`, `{}`))
		if fits := kind.alg == "EdDSA"; (err == nil) != fits {
			t.Errorf("a token of a key for %s: %v, want it accepted: %t", kind.alg, err, fits)
		}
	}
}
