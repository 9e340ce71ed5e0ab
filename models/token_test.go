package models_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plantstore/models"
)

func TestHoldsToken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":        false,
		"/plants": false,
		"a.b.c":   false,
		"/very-long-names-of-hosts.have-two-dots.example": false,
		"2026-11-22.eyelid.Idea.Code.Date":                false,
		"eyJhbGciOiJIUzI1NiJ9.e30.c2ln":                   false, // of no algorithm
	} {
		if got := models.HoldsToken(text); got != want {
			t.Errorf("HoldsToken(%q) is %t", text, got)
		}
	}
}

// TestClientText checks that a long text is cut, without the beginning of a token at its end.
func TestClientText(t *testing.T) {
	t.Parallel()
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"
	long := strings.Repeat("/ab", 85)
	for text, want := range map[string]string{
		"":                             "",
		"/caf\xe9":                     "/caf\xe9",
		"/x/" + token:                  models.Redacted,
		long:                           long,
		long + "/":                     long[:250] + "…",
		token + long:                   models.Redacted,
		long + token:                   long[:250] + "…",
		long[:249] + "," + token:       long[:249] + ",…",
		strings.Repeat("\x01", 16<<10): strings.Repeat("\x01", 252) + "…",
	} {
		if got := models.ClientText(text); got != want || len(got) > 255 {
			t.Errorf("ClientText(%.40q) is %q, want %q", text, got, want)
		}
	}
}

// TestEveryToken checks that a token is detected with any header and payload, and at any position
// in a text, and that it is not a request id.
func TestEveryToken(t *testing.T) {
	t.Parallel()
	encode := base64.RawURLEncoding.EncodeToString
	rapid.Check(t, func(r *rapid.T) {
		blanks := rapid.StringMatching(`[ \t\n\r]{0,9}`)
		header := blanks.Draw(r, "before") + `{` + blanks.Draw(r, "in") + `"alg":"HS256"}`
		signed := encode([]byte(header)) + "." + encode([]byte(`{`+blanks.Draw(r, "payload")+`}`))
		mac := hmac.New(sha256.New, []byte("a secret"))
		mac.Write([]byte(signed))
		token := signed + "." + encode(mac.Sum(nil))
		text := rapid.StringMatching(`[ -~]{0,9}`).Draw(r, "text") + token + rapid.StringMatching(`[ -~]{0,9}`).Draw(r, "rest")
		if !models.HoldsToken(text) || models.WithoutToken(text) != models.Redacted {
			r.Fatalf("%q with the header %q is not detected", text, header)
		}
		if got := models.RequestID([]string{token}); len(got) != 1 || got[0] == token {
			r.Fatalf("%s may be logged as a request id", token)
		}
	})
}
