package cli_test

import (
	"strings"
	"testing"
	"time"

	"plantstore/internal/auth"
)

// TestLink checks that the link leads to the docs page of the server with the same
// configuration, and that this server accepts its token for an hour.
func TestLink(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		environ []string
		args    []string
		page    string
		ttl     time.Duration
	}{
		"by default":     {nil, nil, "http://127.0.0.1:8080/docs", time.Hour},
		"all interfaces": {[]string{"PORT=9000"}, nil, "http://localhost:9000/docs", time.Hour},
		"IPv6":           {[]string{"ADDR=[::1]:9000"}, nil, "http://[::1]:9000/docs", time.Hour},
		"TLS":            {[]string{"TLS_CERT_FILE=c", "TLS_KEY_FILE=k", "ADDR=127.0.0.1:8443"}, nil, "https://127.0.0.1:8443/docs", time.Hour},
		"ACME":           {[]string{"ACME_DOMAINS=plants.test", "ADDR=:443"}, nil, "https://plants.test/docs", time.Hour},
		"base URL":       {[]string{"BASE_URL=https://plants.test/shop/"}, nil, "https://plants.test/shop/docs", time.Hour},
		"flag":           {[]string{"ADDR=unix:s"}, []string{"--base-url", "https://plants.test"}, "https://plants.test/docs", time.Hour},
		"lifetime":       {nil, []string{"--ttl", "90s"}, "http://127.0.0.1:8080/docs", 90 * time.Second},
		"no expiry":      {nil, []string{"--ttl", "0"}, "http://127.0.0.1:8080/docs", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environ := append([]string{"JWT_SECRET=" + secret, "JWT_AUDIENCE=plants"}, test.environ...)
			now := time.Now()
			page, issued, found := strings.Cut(token(t, environ, append([]string{"--link"}, test.args...)...), "#token=")
			if page != test.page || !found {
				t.Errorf("the link is to %s, want %s", page, test.page)
			}
			verifier := auth.NewVerifier(auth.Options{Keys: []auth.Key{auth.Secret(secret).Key()}, Audiences: []string{"plants"}})
			if subject, err := verifier.Verify(issued); err != nil || subject != "developer" {
				t.Errorf("the token is for %q: %v", subject, err)
			}
			got := claims(t, issued)
			expires, _ := got["exp"].(float64)
			earliest, latest := now.Add(test.ttl), time.Now().Add(test.ttl)
			if test.ttl == 0 && got["exp"] != nil || test.ttl > 0 && (int64(expires) < earliest.Unix() || int64(expires) > latest.Unix()) {
				t.Errorf("the token is valid until %v, want %v", got["exp"], earliest)
			}
		})
	}
}
