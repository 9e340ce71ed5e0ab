package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// TLS reports whether the server uses TLS.
func (c *Config) TLS() bool {
	return c.TLSCertFile != "" || c.TLSKeyFile != "" || len(c.ACMEDomains) > 0
}

func tlsOptions() []Option {
	return []Option{
		{
			Env: "TLS_CERT_FILE", Flag: "tls-cert-file",
			Help: "`FILE` with the TLS certificate and its chain (PEM)",
			Set:  func(c *Config, v string) error { c.TLSCertFile = v; return nil },
		},
		{
			Env: "TLS_KEY_FILE", Flag: "tls-key-file",
			Help: "`FILE` with the private key of the certificate (PEM)",
			Set:  func(c *Config, v string) error { c.TLSKeyFile = v; return nil },
		},
		{
			Env: "ACME_DOMAINS", Flag: "acme-domains",
			Help: "comma-separated `DOMAINS` to get certificates for by ACME; you accept the authority's terms",
			Set:  parsed(list(parseDomain), func(c *Config) *[]string { return &c.ACMEDomains }),
		},
		{
			Env: "ACME_DIRECTORY", Flag: "acme-directory",
			Help: "`URL` of the ACME directory (default: Let's Encrypt)",
			Set:  func(c *Config, v string) error { c.ACMEDirectory = v; return checkDirectory(v) },
		},
	}
}

func (c *Config) checkTLS() error {
	_, socket := UnixPath(c.Addr)
	switch acme := len(c.ACMEDomains) > 0; {
	case c.TLSCertFile == "" && c.TLSKeyFile != "":
		return errors.New("TLS_KEY_FILE is set and TLS_CERT_FILE is not; set both or neither")
	case c.TLSCertFile != "" && c.TLSKeyFile == "":
		return errors.New("TLS_CERT_FILE is set and TLS_KEY_FILE is not; set both or neither")
	case !acme && c.ACMEDirectory != "":
		return errors.New("ACME_DIRECTORY requires ACME_DOMAINS: set it, or remove ACME_DIRECTORY")
	case acme && c.TLSCertFile != "":
		return errors.New("TLS_CERT_FILE and ACME_DOMAINS are both set; set only one of them")
	case acme && socket:
		return errors.New("ACME_DOMAINS needs a port that the authority can reach, and ADDR names a Unix socket")
	}
	return nil
}

// maxDomain is the maximum length of a domain in bytes (RFC 1035, 2.3.4; without the final dot).
const maxDomain = 253

// parseDomain returns a domain in lower case and without the final dot. A certificate can be
// issued for it: its last label must not be a number, as in an IPv4 address (RFC 3696, 2).
func parseDomain(v string) (string, error) {
	const label = `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?` // at most 63 bytes
	domain := strings.TrimSuffix(strings.ToLower(v), ".")
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	if valid, _ := regexp.MatchString(`^(`+label+`\.)+`+label+`$`, domain); !valid || len(domain) > maxDomain || strings.Trim(last, "0123456789") == "" {
		return "", fmt.Errorf("must be domains such as plants.example.com, with commas between them: at most %d bytes each, in labels of "+
			"up to 63 letters (a to z), digits and inner hyphens; no IP addresses, no wildcards", maxDomain)
	}
	return domain, nil
}

func checkDirectory(v string) error {
	if u, err := url.Parse(v); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf("must be an https URL, without a password")
	}
	return nil
}
