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

// claims returns the claims of a token, unverified.
func claims(t *testing.T, token string) map[string]any {
	t.Helper()
	payload := must.Get(base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1]))(t)
	var claims map[string]any
	must.Do(t, json.Unmarshal(payload, &claims))
	return claims
}

func TestTokenClaims(t *testing.T) {
	t.Parallel()
	environ := []string{"JWT_SECRET=" + secret}
	tests := map[string]struct {
		args []string
		want map[string]any // exp, if it is set, is held against the clock
		ttl  time.Duration
	}{
		"by default":     {nil, map[string]any{"sub": "developer"}, 24 * time.Hour},
		"subject":        {[]string{"--subject", "me"}, map[string]any{"sub": "me"}, 24 * time.Hour},
		"without exp":    {[]string{"--ttl", "0"}, map[string]any{"sub": "developer"}, 0},
		"short":          {[]string{"--ttl=90s"}, map[string]any{"sub": "developer"}, 90 * time.Second},
		"issuer by flag": {[]string{"--jwt-issuer", "i"}, map[string]any{"sub": "developer", "iss": "i"}, 24 * time.Hour},
		"audience and scope": {
			[]string{"--jwt-audience", "a", "--jwt-scope", "s"},
			map[string]any{"sub": "developer", "aud": "a", "scope": "s"},
			24 * time.Hour,
		},
		"the first of several": {
			[]string{"--jwt-issuer", "me, you", "--jwt-audience", "plants,api", "--subject", "Zoë"},
			map[string]any{"sub": "Zoë", "iss": "me", "aud": "plants"},
			24 * time.Hour,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			earliest := time.Now().Add(test.ttl).Unix()
			got := claims(t, token(t, environ, test.args...))
			latest := time.Now().Add(test.ttl).Unix()
			if expires, _ := got["exp"].(float64); test.ttl > 0 && (int64(expires) < earliest || int64(expires) > latest) {
				t.Errorf("exp is %v, want %d to %d", got["exp"], earliest, latest)
			}
			if test.ttl > 0 {
				delete(got, "exp")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
}
