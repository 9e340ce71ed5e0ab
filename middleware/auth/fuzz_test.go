package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"plantstore/models"
)

// FuzzToken verifies arbitrary tokens, and correctly signed ones with an arbitrary header
// and payload. An accepted token must be signed with the secret by the algorithm in its
// header; a rejected one must result in an Error.
func FuzzToken(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"alg":"HS256"}`, `{"sub":"a","exp":1}`},
		{`{"alg":"none"}`, `{}`},
		{`{"alg":"HS256","crit":["x"]}`, `{}`},
		{`{"alg":"HS256","alg":"none"}`, `{"aud":["a"],"scope":"b"}`},
		{`{"ALG":"HS256"}`, `null`},
		{`{"alg":"HS512"}`, `{"nbf":1e400}`},
		{`[]`, `{"exp":"1"}`},
		{``, ``},
	} {
		f.Add(hs256.sign(seed[0], seed[1]), []byte(seed[0]), []byte(seed[1]))
	}
	v := newVerifier(optionsOf(hs256))
	f.Fuzz(func(t *testing.T, token string, header, payload []byte) {
		for _, token := range []string{token, hs256.sign(string(header), string(payload))} {
			_, err := v.Verify(context.Background(), token)
			var failure *models.Error
			switch {
			case err == nil:
				checkSigned(t, token)
			case !errors.As(err, &failure) || failure.Code != models.CodeUnauthorized || failure.Message == "":
				t.Errorf("%q is refused with %v", token, err)
			}
		}
	})
}

// checkSigned checks an accepted token independently of the code under test.
func checkSigned(t *testing.T, token string) {
	t.Helper()
	segments := strings.Split(token, ".")
	if len(segments) != 3 {
		t.Fatalf("%q is accepted", token)
	}
	mac := hmac.New(sha256.New, []byte(testSecret))
	mac.Write([]byte(segments[0] + "." + segments[1]))
	if got, err := base64.RawURLEncoding.DecodeString(segments[2]); err != nil || !hmac.Equal(got, mac.Sum(nil)) {
		t.Errorf("%q is accepted, and is not signed with the secret", token)
	}
	text, err := base64.RawURLEncoding.DecodeString(segments[0])
	var header map[string]any
	if err != nil || json.Unmarshal(text, &header) != nil || header["alg"] != "HS256" || header["crit"] != nil {
		t.Errorf("the header %q is accepted", text)
	}
}
