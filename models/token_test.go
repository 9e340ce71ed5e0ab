package models_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plantstore/models"
)

func TestHoldsToken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                                 false,
		"/plants":                          false,
		"eyJ":                              false,
		"eyJh.eyJz":                        false,
		"a.b.c":                            false,
		"eyJh.eyJz.c2ln":                   true,
		"/plants/eyJh.eyJz.c2ln/x":         true,
		"eyJh..":                           true, // an algorithm without a signature
		"eyAiYWxnIjoiSFMyNTYifQ.eyJz.c2ln": true, // { "alg":"HS256"}
		"ewoiYWxnIjoiSFMyNTYifQ.eyJz.c2ln": true, // with a line end
		"IHsiYWxnIjoiSFMyNTYifQ.eyJz.c2ln": true, // a space before it
		"request-eyAiYWxnIjoiSFMyNTYifQ.eyJz.c2ln": true,
		// The part that is decoded ends within a letter of the name.
		"eyAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIuGqviI6MX0.eyJz.c2ln": true,
		"keyId.monkeyIsland.keyLength":     false,
		"HeyKids.www.example.com":          false,
		"2026-11-22.eyelid.Idea.Code.Date": false,
	} {
		if got := models.HoldsToken(text); got != want {
			t.Errorf("HoldsToken(%q) is %t", text, got)
		}
	}
}

func TestRequestIDIsNoToken(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"eyJh.eyJz.c2ln", "eyAiYWxnIjoiSFMyNTYifQ.eyJz.c2ln", "ewoiYWxnIjoiSFMyNTYifQ.eyJz.c2ln"} {
		if got := models.RequestID([]string{id}); len(got) != 1 || got[0] == id {
			t.Errorf("%s may be logged as a request id", id)
		}
	}
}

// TestEveryHeader checks that a token is detected with any header and at any position in a
// text.
func TestEveryHeader(t *testing.T) {
	t.Parallel()
	blank := rapid.StringMatching(`[ \t\n\r]{0,9}`)
	longBlank := rapid.Map(rapid.IntRange(0, 300), func(n int) string { return strings.Repeat(" ", n) })
	blanks := rapid.OneOf(blank, blank, longBlank)
	rapid.Check(t, func(r *rapid.T) {
		name, err := json.Marshal(rapid.String().Draw(r, "name"))
		if err != nil {
			r.Fatal(err)
		}
		header := blanks.Draw(r, "before") + "{" + blanks.Draw(r, "in") + string(name) + blanks.Draw(r, "after") + ":1}"
		token := base64.RawURLEncoding.EncodeToString([]byte(header)) + ".eyJzdWIiOiJ4In0.c2ln"
		before := rapid.StringMatching(`[ -~]{0,9}`).Draw(r, "text")
		if text := before + token; !models.HoldsToken(text) || models.WithoutToken(text) != models.Redacted {
			r.Fatalf("%q with the header %q is not detected", text, header)
		}
	})
}

func BenchmarkWithoutToken(b *testing.B) {
	text := "name: must be a string, not null; tag: the JSON is cut short, it ends after 19 bytes"
	b.ReportAllocs()
	for b.Loop() {
		if models.WithoutToken(text) != text {
			b.Fatal("it is redacted")
		}
	}
}
