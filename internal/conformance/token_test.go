package conformance

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/internal/must"
)

func testValues(token string) values {
	return values{host: "h", token: token, secret: []byte(testSecret), claims: claimsOf(token), firstID: 1 << 52}
}

// TestTokensAreSigned checks that another library accepts the signatures, and that padding is there where it
// is wanted.
func TestTokensAreSigned(t *testing.T) {
	t.Parallel()
	padded := must.Get(Token{Padded: true}.text(testValues("given")))(t)
	if parts := strings.Split(padded, "."); !strings.HasSuffix(parts[0], "=") || !strings.HasSuffix(parts[1], "=") {
		t.Errorf("%s is not padded", padded)
	}
	for algorithm, header := range map[string]string{"": "", "HS384": `{"alg":"HS384"}`, "HS512": `{"alg":"HS512"}`} {
		text := must.Get(Token{Header: header, MAC: algorithm}.text(testValues("given")))(t)
		if _, err := jwt.Parse(text, func(*jwt.Token) (any, error) { return []byte(testSecret), nil }); err != nil {
			t.Errorf("%q: %v", algorithm, err)
		}
	}
}

func TestTokensHaveRequiredClaims(t *testing.T) {
	t.Parallel()
	given := "e30." + encode(`{"sub":"x","iss":"https://i","aud":["a","b"],"exp":1,"nbf":2}`) + ".c2ln"
	for token, want := range map[string]string{
		given:                `"sub":"conformance","iss":"https://i","aud":["a","b"]`,
		"opaque":             `"sub":"conformance"`,
		"a.b.c":              `"sub":"conformance"`,
		"e30." + encode(`[`): `"sub":"conformance"`,
	} {
		if got := claimsOf(token); got != want {
			t.Errorf("claims of %s: %s, want %s", token, got, want)
		}
	}
}

// TestBenders checks that a changed token differs from its original only as its name describes;
// a lax decoder would not detect the difference in the spare bits.
func TestBenders(t *testing.T) {
	t.Parallel()
	good := must.Get(Token{}.text(testValues("given")))(t)
	signature := func(token string, e *base64.Encoding) string {
		return string(must.Get(e.DecodeString(token[strings.LastIndexByte(token, '.')+1:]))(t))
	}
	spare := must.Get(spareBits(good))(t)
	if spare == good || signature(spare, base64.RawURLEncoding) != signature(good, base64.RawURLEncoding) {
		t.Errorf("spare bits: %s from %s", spare, good)
	}
	if _, err := base64.RawURLEncoding.Strict().DecodeString(spare[strings.LastIndexByte(spare, '.')+1:]); err == nil {
		t.Error("the spare bits are not set")
	}
	flipped := must.Get(flipBit(good))(t)
	if signature(flipped, base64.RawURLEncoding) == signature(good, base64.RawURLEncoding) || len(flipped) != len(good) {
		t.Errorf("flipped: %s from %s", flipped, good)
	}
	for _, token := range []string{"a.b.", "a.b.cccc"} {
		if got, err := spareBits(token); err == nil {
			t.Errorf("spare bits of %s: %s", token, got)
		}
	}
	if got, err := flipBit("a.b.!"); err == nil {
		t.Errorf("flipped %s", got)
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{`a "quoted" word`, `a "quoted" word`},
		{"\r\n\x00\xff\u202e", `\r\n\x00\xff\u202e`},
		{strings.Repeat("a", 20) + strings.Repeat("b", 20), `aaaaaaaaaaaaaaa…(40 bytes)bbbbb`},
		{"\x00" + strings.Repeat("b", 40), `\x00bbbbbbbbbbbbbb…(41 bytes)bbbbb`},
	} {
		if got := short(test.in, 20); got != test.want {
			t.Errorf("short(%q) = %s, want %s", test.in, got, test.want)
		}
	}
}
