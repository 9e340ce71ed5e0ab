package auth

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestVerifyAccepts checks the subjects of valid tokens. The rules C4.20 to C4.23 of
// internal/conformance have many more.
func TestVerifyAccepts(t *testing.T) {
	t.Parallel()
	verifier, long := newVerifier(optionsOf(hs256)), strings.Repeat("x", 255)
	for payload, want := range map[string]string{
		`{}`:                               "",
		`{"exp":1e11}`:                     "",
		`{"exp":1e400}`:                    "",
		`{"nbf":-1e400}`:                   "",
		`{"EXP":0,"Exp":"x","NBF":1e11}`:   "",
		`{"iat":"yesterday","sub":7}`:      "",
		`{"sub":"gärtner","exp":1e11}`:     "gärtner",
		fmt.Sprintf(`{ "sub" : %q}`, long): long,
	} {
		for range 2 { // the second time from the cache
			if subject, err := verifier.Verify(context.Background(), hs256.token(payload)); err != nil || subject != want {
				t.Errorf("%s: %q, %v, want %q", payload, subject, err, want)
			}
		}
	}
	const keys = `{"alg":"HS256","jku":"http://127.0.0.1:1","jwk":{},"x5u":"x","x5c":["x"],"kid":"x"}`
	check(t, verifier, accepted, hs256.headed(keys))
}

// nested returns JSON of that depth.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// TestVerifyRefuses checks the reasons to reject a token (C4.21 to C4.23, C4.25a). internal/conformance has
// many more tokens for each of them, and sends them for keys of each type.
func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	verifier := newVerifier(optionsOf(hs256))
	for header, message := range map[string]string{
		`{"alg":"none","\u0061lg":"HS256"}`:               badForm,
		`["HS256"]`:                                       badForm,
		`null`:                                            badForm,
		`{"alg":"HS256"}{}`:                               badForm,
		"{\"alg\":\"HS256\",\"x\":\"\xff\"}":              badForm,
		`{"alg":"HS256","crit":["exp"],"exp":1}`:          badForm,
		`{"alg":"HS256","crit":null}`:                     badForm,
		`{"typ":"JWT"}`:                                   "is unknown, and this server accepts HS256",
		`{"ALG":"HS256"}`:                                 badAlgorithm,
		`{"alg":256}`:                                     badAlgorithm,
		`{"alg":"hs256"}`:                                 badAlgorithm,
		`{"alg":"HS384"}`:                                 "is HS384, and this server accepts HS256",
		`{"alg":"<script>"}`:                              "is unknown, and this server accepts HS256",
		`{"alg":"HS256","x":` + nested(15) + `}`:          "",
		`{"alg":"HS256","x":` + nested(16) + `}`:          tooDeep,
		`{"alg":"HS256","x":` + strings.Repeat("[", 1500): tooDeep,
		`{"alg":"HS256","x":"` + strings.Repeat("[", 1500) + `\"[[[[[[[[[[[[[[[["}`:             "",
		`{"alg":"HS256","x":"` + strings.Repeat("x", 2048-len(`{"alg":"HS256","x":""}`)) + `"}`: "",
		`{"alg":"HS256","x":"` + strings.Repeat("x", 2048-len(`{"alg":"HS256","x":"}`)) + `"}`:  "more than 2048 bytes",
	} {
		check(t, verifier, message, hs256.headed(header))
	}
	for payload, message := range map[string]string{
		``:                            badForm,
		`null`:                        badForm,
		`[]`:                          badForm,
		"{\"sub\":\"\xff\"}":          badForm,
		`{"exp":1e11,"exp":0}`:        badForm,
		`{"x":{"a":1,"a":1}}`:         badForm,
		`{"x":` + nested(15) + `}`:    "",
		`{"x":` + nested(16) + `}`:    tooDeep,
		strings.Repeat(`{"a":`, 2000): tooDeep,
		`{"exp":0}`:                   "expired",
		`{"exp":-1e400}`:              "expired",
		`{"exp":"99999999999"}`:       "exp must be a number",
		`{"exp":null}`:                "exp must be a number",
		`{"exp":{}}`:                  "exp must be a number",
		`{"nbf":"0"}`:                 "nbf must be a number",
		`{"nbf":1e400}`:               "not valid yet",
		`{"exp":0,"nbf":1e400}`:       "expired",
		`{"sub":"` + strings.Repeat("ä", 128) + `"}`: "sub must be at most 255 bytes long",
	} {
		check(t, verifier, message, hs256.token(payload))
	}
	good := hs256.token(`{"sub":"x"}`)
	check(t, verifier, accepted, good) // from here on it is in the cache
	signed, signature := good[:strings.LastIndex(good, ".")+1], good[strings.LastIndex(good, ".")+1:]
	for _, parts := range [][]string{
		{"", "the access token is empty"},
		{"x", badForm},
		{"..", badForm},
		{good + ".", badForm},
		{good + "=", badForm},
		{good[:10] + "\n" + good[10:], badForm},
		{good[:len(good)-1] + string(good[len(good)-1]+1), badForm}, // with another of the unused bits
		{signed, badSignature},
		{signed + encode("\x00"+signature), badSignature},
		{signed + encode(strings.Repeat("\x00", 32)), badSignature},
		{encode(`{"alg":"nOnE"}`) + "." + encode(`{}`) + ".", "is unknown, and"},
		{encode(`{"alg":"none"}`) + "." + encode(`{}`) + "." + signature, badAlgorithm},
		{encode(`{"alg":"HS256"}`) + "." + encode(`{"x":`+nested(16)+`}`) + "." + signature, tooDeep},
		{hmacKind("HS256", []byte(testSecret+"x")).token(`{}`), badSignature},
	} {
		check(t, verifier, parts[1], parts[0])
	}
}

// TestVerifyConfigured checks the claims that the configuration requires (C4.22).
func TestVerifyConfigured(t *testing.T) {
	t.Parallel()
	issuer := func(o *Options) { o.Issuers = []string{"nursery", "greenhouse"} }
	audience := func(o *Options) { o.Audiences = []string{"plants", "api"} }
	scope := func(o *Options) { o.Scope = "plants:create" }
	exp := func(o *Options) { o.RequireExp = true }
	both := func(o *Options) { issuer(o); audience(o) }
	for _, test := range []struct {
		change  func(*Options)
		payload string
		message string // empty: accepted
	}{
		{issuer, `{"iss":"greenhouse"}`, ""},
		{issuer, `{"iss":"Nursery"}`, "issuer (iss)"},
		{issuer, `{"Iss":"nursery"}`, "required here: iss"},
		{issuer, `{"iss":["nursery"]}`, "required here: iss"},
		{audience, `{"aud":"plants"}`, ""},
		{audience, `{"aud":["trees","api"]}`, ""},
		{audience, `{"aud":["trees"]}`, "audience (aud)"},
		{audience, `{"aud":["trees","shrubs","plant"]}`, "audience (aud)"},
		{audience, `{}`, "required here: aud"},
		{audience, `{"aud":[1,"plants"]}`, "required here: aud"},
		{audience, `{"aud":{"plants":1}}`, "required here: aud"},
		{scope, `{"scope":"a plants:create b"}`, ""},
		{scope, `{"scope":["a","plants:create"]}`, ""},
		{scope, `{"scp":"a plants:create"}`, ""},
		{scope, `{"scp":["a","plants:create"]}`, ""},
		{scope, `{"scope":"plants:creates"}`, noScope},
		{scope, `{"scope":"a","scp":["plants:create"]}`, noScope},
		{scope, `{"scp":["plants:create",1]}`, noScope},
		{scope, `{"scp":["a plants:create"]}`, noScope},
		{scope, `{"roles":["plants:create"],"permissions":["plants:create"]}`, noScope},
		{exp, `{"exp":99999999999}`, ""},
		{exp, `{}`, "required here: exp"},
		{both, `{"aud":[]}`, "required here: iss, aud"},
		{func(o *Options) { both(o); exp(o) }, `{"aud":""}`, "required here: exp, iss, aud"},
	} {
		options := optionsOf(hs256)
		test.change(&options)
		check(t, newVerifier(options), test.message, hs256.token(test.payload))
	}
}

// TestLeeway checks the exact limits of exp and nbf (C4.22), of a new token and of one in the
// cache.
func TestLeeway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := func(claim string, seconds int64) string {
			return hs256.token(fmt.Sprintf(`{%q:%d}`, claim, time.Now().Unix()+seconds))
		}
		verifier, start := newVerifier(optionsOf(hs256)), time.Now()
		early, short := at("nbf", 6), at("exp", 60)
		for _, step := range []struct {
			after time.Duration
			token string
			want  string // in the message; empty: accepted
		}{
			{0, at("exp", -5), "expired"},
			{0, at("exp", -4), ""},
			{0, at("nbf", 5), ""},
			{0, early, "not valid yet"},
			{time.Second, early, ""},
			{time.Second, short, ""},
			{65*time.Second - 1, short, ""},
			{65 * time.Second, short, "expired"},
			{66 * time.Second, early, ""},
		} {
			time.Sleep(time.Until(start.Add(step.after)))
			check(t, verifier, step.want, step.token)
		}
	})
}

// TestCacheIsBounded checks that the cache of verified tokens has a limit.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	cache := newVerifier(optionsOf(hs256)).trusted.Load()
	const size = 10_000
	for i := range 2 * cacheBytes / size {
		cache.put(fmt.Sprintf("%0*d", size, i), verified{})
		if n := len(cache.verified); n == 0 || n*size > cacheBytes {
			t.Fatalf("%d tokens in the cache", n)
		}
	}
}

// TestStats checks that Stats counts tokens in the cache and all others.
func TestStats(t *testing.T) {
	t.Parallel()
	v := newVerifier(optionsOf(hs256))
	good := hs256.token(`{"sub":"a"}`)
	for _, sent := range []string{good, good, "none", "none", good, hs256.token(`{"sub":"b"}`)} {
		_, _ = v.Verify(context.Background(), sent)
	}
	if got, want := v.Stats(), (Stats{CacheHits: 2, CacheMisses: 4, Refused: [reasons]uint64{ReasonMalformed: 2}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
