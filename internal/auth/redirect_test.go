package auth

import (
	"errors"
	"net/http"
	"testing"
)

// TestCheckRedirect checks that redirects are followed only within the configured scheme, host
// and port.
func TestCheckRedirect(t *testing.T) {
	t.Parallel()
	const configured = "https://issuer.example/jwks.json"
	for target, within := range map[string]bool{
		"https://issuer.example/keys?v=2":     true,
		"https://ISSUER.example:443/":         true,
		"http://issuer.example/keys":          false,
		"https://issuer.example:8443/keys":    false,
		"https://keys.issuer.example/":        false,
		"http://127.0.0.1/":                   false,
		"https://127.0.0.1/":                  false,
		"https://localhost/":                  false,
		"https://[::1]/":                      false,
		"https://[::ffff:127.0.0.1]/":         false,
		"https://169.254.169.254/":            false,
		"https://issuer.example@evil.example": false,
		"file:///etc/passwd":                  false,
	} {
		if err := redirect(t, configured, target); (err == nil) != within {
			t.Errorf("from %s to %s: %v, want it followed: %t", configured, target, err, within)
		}
	}
	for _, target := range []string{"https://127.0.0.1:8000/", "http://127.0.0.1:9000/", "http://localhost:8000/", "http://issuer.example/"} {
		if err := redirect(t, "http://127.0.0.1:8000/", target); !errors.Is(err, errRedirect) {
			t.Errorf("from this machine to %s: %v", target, err)
		}
	}
}

// redirect returns the error of checkRedirect for a redirect between two URLs.
func redirect(t *testing.T, from, to string) error {
	t.Helper()
	first, err := http.NewRequestWithContext(t.Context(), http.MethodGet, from, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	next, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return checkRedirect(next, []*http.Request{first})
}
