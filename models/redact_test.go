package models_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plantstore/models"
)

const (
	header, payload, signature = "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiJhIn0", "c2lnbmF0dXJl"

	aToken = header + "." + payload + "." + signature
)

// TestRedact checks what is taken for a token, and what is not.
func TestRedact(t *testing.T) {
	t.Parallel()
	const jwe = header + ".." + payload + "." + signature + "." + signature
	dots := func(dot string) string { return strings.ReplaceAll(aToken, ".", dot) }
	for text, want := range map[string]string{
		"":        "",
		"/plants": "/plants",
		"/very-long-names-of-hosts.have-two-dots.example":      "/very-long-names-of-hosts.have-two-dots.example",
		"01234567890123456789.0123456789.01234567890123456789": "01234567890123456789.0123456789.01234567890123456789",
		"e30.e30.c2lnbmF0dXJl":                                 "e30.e30.c2lnbmF0dXJl",
		`{"a":"%zz \\u00zz\u0041%"}`:                           `{"a":"%zz \\u00zz\u0041%"}`,
		"/é" + aToken + "/" + jwe + "é":                        "/éREDACTED/REDACTEDé",
		"Bearer" + aToken + " x":                               "REDACTED x",
		header + ".":                                           "REDACTED",
		dots("%2e"):                                            "REDACTED",
		base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"`+strings.Repeat(" ", 2<<10-16)+"}")) + "." + signature: "REDACTED",
		"a " + dots("%25252E"):                        "REDACTED",
		`{"t":"{\"t\":\"` + dots(`\\u002E`) + `\"}"}`: "REDACTED",
		`\u0025` + dots(`\u00252e`):                   "REDACTED",
	} {
		if got := models.Redact(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestRedactField checks that everything that may be a credential is left out, however it is written, and
// nothing else.
func TestRedactField(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"X-Auth-Token": {"opaque"}, "Api-Key": {"opaque"}, "X-Amz-Security-Token": {"opaque"}, "X-Forwarded-Authorization": {"Bearer sk_1"},
		"Authorisation": {"Bearer sk_1"}, "cookie": {"a=b"}, "X-Secret": {"x"}, "X-Password": {"x"}, "X-Hub-Signature": {"x"},
		"X": {
			"a " + aToken, aToken[:30] + " " + aToken[30:], aToken[:8] + " " + aToken[8:], aToken[:8] + "\t " + aToken[8:14] + " " + aToken[14:],
			"a BASIC dXNlcjpwYXNz", "bearer:sk_1", "Bearer: sk_1", "'Bearer sk_1'", "x=Bearer sk_1", `{"h": "Bearer sk_1"}`, "a, (Bearer sk_1)",
			"?h=Bearer%20sk_1", "?h=Bearer+sk_1", "/Bearer%2520sk_1", `{\"h\":\"Bearer sk_1\"}`,
			"token: a", "token = a", "a; token=a", "https://x.test/?api_key=1", "a=1&X-Amz-Signature=2", "access_token%3d=3", "?%74oken=a", "token[0]=a",
			"https://x.test/cb#token=a", "x.token.y=a", "token=%26a", `{"api_key": 1}`, `{\"api_key\":\"a\"}`, `{"\u0074oken":1}`, "<a token='b'>",
			"https://a:b@x.test/", "https://a@x.test", "http://a:b,c@x/plants", "http://a:b&c@x/plants", "https://a:b;c@x/", "http://a:b%2Fc@x",
			"?u=http%3A%2F%2Fa%3Ab%40x", "(see https://a:b@x.test/)", "https://x.test/https://a:b@x.test/", "//a@x",
		},
	} {
		for _, value := range values {
			if got := models.RedactField(name, value); got != models.Redacted {
				t.Errorf("%s: %s: got %s", name, value, got)
			}
		}
	}
	for name, values := range map[string][]string{
		"Access-Control-Request-Headers": {"authorization, x-api-key"}, "Cache-Control": {"max-age=0"},
		"User-Agent": {"Basically/1.0 (+https://x.test/@a) Bearer", "Monkey/5.0 (X11; Linux x86_64) rv:1"},
		"Referer":    {"https://x.test:80/monkeys?mail=a@b.test", "http://localhost:8080/a//b?c=d#e@f"},
		"":           {"limit=10&basic", "type=basic&limit=10", "/plants/authors", "/@alice", "%zz%"},
	} {
		for _, value := range values {
			if got := models.RedactField(name, value); got != value {
				t.Errorf("%s: %s: got %s", name, value, got)
			}
		}
	}
}

// TestClientText checks that a long text is cut, without the beginning of a token at its end.
func TestClientText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("/ab", 85)
	for text, want := range map[string]string{
		"":                             "",
		"/caf\xe9":                     "/caf\xe9",
		"/x/" + aToken:                 "/x/" + models.Redacted,
		long:                           long,
		long + "/":                     long[:252] + "…",
		long[:222] + aToken:            long[:220] + models.Redacted + "…",
		strings.Repeat("\x01", 16<<10): strings.Repeat("\x01", 252) + "…",
	} {
		if got := models.ClientText(text); got != want || len(got) > 255 {
			t.Errorf("ClientText(%.40q) is %q, want %q", text, got, want)
		}
	}
}

// TestEveryToken checks that a token is detected with any header and payload, and at any position in a text.
func TestEveryToken(t *testing.T) {
	t.Parallel()
	encode := base64.RawURLEncoding.EncodeToString
	rapid.Check(t, func(r *rapid.T) {
		blanks := rapid.StringMatching(`[ \t\n\r]{0,9}`)
		header := blanks.Draw(r, "before") + `{` + blanks.Draw(r, "in") + `"alg":"HS256"}`
		signature := encode(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(r, "signature"))
		token := encode([]byte(header)) + "." + encode([]byte(`{`+blanks.Draw(r, "payload")+`}`)) + "." + signature
		text := rapid.StringMatching(`[ -~]{0,9}`).Draw(r, "text") + token + rapid.StringMatching(`[ -~]{0,9}`).Draw(r, "rest")
		if got := models.Redact(text); strings.Contains(got, signature) {
			r.Fatalf("%q with the header %q is %q", text, header, got)
		}
	})
}

// TestRequestID checks which ids of clients are kept, beyond the cases of C1.6. The others are replaced by
// a random one.
func TestRequestID(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sent []string
		kept bool
	}{
		"sane":     {[]string{"3f2c-a.b_c~d+e/f=g:h@i"}, true},
		"longest":  {[]string{strings.Repeat("x", 128)}, true},
		"too long": {[]string{strings.Repeat("x", 129)}, false},
		"quote":    {[]string{`a"b`}, false},
		"token":    {[]string{aToken}, false},
	} {
		first, second := models.RequestID(tt.sent), models.RequestID(tt.sent)
		if len(first) != 1 || tt.kept && first[0] != tt.sent[0] || !tt.kept && (first[0] == second[0] || len(first[0]) < 20) {
			t.Errorf("%s: %q and %q, want it kept: %t", name, first, second, tt.kept)
		}
	}
}
