package cli_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
)

// token returns the output of plantstore token, which must be exactly one line.
func token(t testing.TB, environ []string, args ...string) string {
	t.Helper()
	printed := output(t, environ, append([]string{"token"}, args...)...)
	line, ended := strings.CutSuffix(printed, "\n")
	if !ended || strings.ContainsAny(line, "\n ") || line == "" {
		t.Fatalf("token prints %q, want one line", printed)
	}
	return line
}

// TestTokenClaims checks the claims and the lifetime of tokens, which the kind of the output does not change.
func TestTokenClaims(t *testing.T) {
	t.Parallel()
	for args, test := range map[string]struct {
		claims string // without exp
		ttl    time.Duration
	}{
		"":                        {`{"sub":"developer"}`, 24 * time.Hour},
		"--ttl=0":                 {`{"sub":"developer"}`, 0},
		"--ttl=90s --subject Zoë": {`{"sub":"Zoë"}`, 90 * time.Second},
		"--link":                  {`{"sub":"developer"}`, time.Hour},
		"--link --ttl=90s":        {`{"sub":"developer"}`, 90 * time.Second},
		"--link --ttl=0":          {`{"sub":"developer"}`, 0},
		"--jwt-issuer me,you --jwt-audience plants,api --jwt-scope s": {`{"iss":"me","sub":"developer","aud":"plants","scope":"s"}`, 24 * time.Hour},
	} {
		earliest := time.Now().Add(test.ttl).Unix()
		printed := token(t, []string{"JWT_SECRET=" + secret}, strings.Fields(args)...)
		latest := time.Now().Add(test.ttl).Unix()
		if _, inLink, found := strings.Cut(printed, "#token="); found {
			printed = inLink
		}
		payload := must.Get(base64.RawURLEncoding.DecodeString(strings.Split(printed, ".")[1]))(t)
		var want, got map[string]any
		must.Do(t, json.Unmarshal([]byte(test.claims), &want))
		must.Do(t, json.Unmarshal(payload, &got))
		if expires, _ := got["exp"].(float64); test.ttl > 0 && (int64(expires) < earliest || int64(expires) > latest) {
			t.Errorf("%s: exp is %v, want %d to %d", args, got["exp"], earliest, latest)
		}
		if test.ttl > 0 {
			delete(got, "exp")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: claims (-want +got):\n%s", args, diff)
		}
	}
}
