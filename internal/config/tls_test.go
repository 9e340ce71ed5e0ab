package config_test

import (
	"strings"
	"testing"

	"plantstore/internal/config"
)

// longDomain returns a domain that is as long as one may be, 253 bytes, and so is its
// last label.
func longDomain() string { return strings.Repeat("a.", 95) + strings.Repeat("b", 63) }

// tlsSamples are samples of the options for TLS.
func tlsSamples() []sample {
	return []sample{
		text("TLS_CERT_FILE", func(c *config.Config) any { return c.TLSCertFile }),
		text("TLS_KEY_FILE", func(c *config.Config) any { return c.TLSKeyFile }),
		{
			"ACME_DOMAINS", func(c *config.Config) any { return strings.Join(c.ACMEDomains, "|") }, "",
			[3]string{"a.example.com", "A.test., b-2.test", "xn--4ca.1a," + longDomain() + "."},
			[3]any{"a.example.com", "a.test|b-2.test", "xn--4ca.1a|" + longDomain()},
		},
		{
			"ACME_DIRECTORY", func(c *config.Config) any { return c.ACMEDirectory }, "",
			[3]string{"https://a/dir", "https://[::1]:14000/dir", "https://b"},
			[3]any{"https://a/dir", "https://[::1]:14000/dir", "https://b"},
		},
	}
}

// TestCheckTLS checks that contradictory options of TLS are refused.
func TestCheckTLS(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options string // as NAME=value, with spaces between them
		want    string // how the error begins; empty: there is none
	}{
		"none":                       {"", ""},
		"files":                      {"TLS_CERT_FILE=c TLS_KEY_FILE=k", ""},
		"files, over a socket":       {"TLS_CERT_FILE=c TLS_KEY_FILE=k ADDR=unix:s", ""},
		"ACME":                       {"ACME_DOMAINS=a.test", ""},
		"ACME, at a port of its own": {"ACME_DOMAINS=a.test ADDR=:8443", ""},
		"no key":                     {"TLS_CERT_FILE=c", "TLS_CERT_FILE is set and TLS_KEY_FILE is not"},
		"no certificate":             {"TLS_KEY_FILE=k", "TLS_KEY_FILE is set and TLS_CERT_FILE is not"},
		"files and ACME":             {"TLS_CERT_FILE=c TLS_KEY_FILE=k ACME_DOMAINS=a.test", "TLS_CERT_FILE and ACME_DOMAINS are both set"},
		"ACME without domains":       {"ACME_DIRECTORY=https://a.test/dir", "ACME_DIRECTORY requires ACME_DOMAINS: set it, or remove ACME_DIRECTORY"},
		"ACME, over a socket":        {"ACME_DOMAINS=a.test ADDR=unix:s", "ACME_DOMAINS needs a port"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environ := make(map[string]string)
			for option := range strings.FieldsSeq(test.options) {
				env, text, _ := strings.Cut(option, "=")
				environ[env] = text
			}
			err := load(t, config.Sources{Environ: environ}).CheckServe()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
