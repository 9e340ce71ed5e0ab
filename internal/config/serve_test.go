package config_test

import (
	"strings"
	"testing"

	"plantstore/internal/config"
)

// TestCheckServe checks that a configuration is refused with which no server can run: two listeners have the same
// port, options of TLS contradict each other, or others could take profiles.
func TestCheckServe(t *testing.T) {
	t.Parallel()
	const (
		samePort = "has the same port; choose another one, or off"
		profiles = "and could take profiles; give it a loopback address, such as 127.0.0.1:8081, or set PPROF to off"
	)
	for options, want := range map[string]string{ // how the error ends; empty: there is none
		"": "",
		"ADDR=127.0.0.1:9 ADMIN_ADDR=127.0.0.1:9": samePort,
		"ADDR=:9 ADMIN_ADDR=127.0.0.1:9":          samePort,
		"ADDR=127.0.0.1:9 ADMIN_ADDR=[::]:9":      samePort,
		"PORT=8081":                               samePort,
		"ADDR=127.0.0.1:9 ADMIN_ADDR=0.0.0.0:9":   samePort,
		"ADDR=0.0.0.0:9 ADMIN_ADDR=localhost:9":   samePort,
		"ADDR=0.0.0.0:9 ADMIN_ADDR=[::1]:9":       "",
		"ADDR=:9 ADMIN_ADDR=:10":                  "",
		"ADDR=127.0.0.1:9 ADMIN_ADDR=127.0.0.2:9": "",
		"ADDR=:0 ADMIN_ADDR=:0":                   "",
		"PORT=8081 ADMIN_ADDR=off":                "",
		"PORT=8081 ADDR=:9":                       "",

		"PPROF=on":                             "",
		"PPROF=on ADMIN_ADDR=localhost:1":      "",
		"PPROF=on ADMIN_ADDR=[::1]:1":          "",
		"PPROF=on ADMIN_ADDR=off":              "give it an address, such as 127.0.0.1:8081, or set PPROF to off",
		"PPROF=on ADMIN_ADDR=:8081":            profiles,
		"PPROF=on ADMIN_ADDR=0.0.0.0:8081":     profiles,
		"PPROF=on ADMIN_ADDR=[::]:8081":        profiles,
		"PPROF=on ADMIN_ADDR=10.0.0.1:8081":    profiles,
		"PPROF=on ADMIN_ADDR=example.com:8081": profiles,

		"TLS_CERT_FILE=c TLS_KEY_FILE=k":                     "",
		"TLS_CERT_FILE=c TLS_KEY_FILE=k ADDR=unix:s":         "",
		"ACME_DOMAINS=a.test":                                "",
		"ACME_DOMAINS=a.test ADDR=:8443":                     "",
		"TLS_CERT_FILE=c":                                    "TLS_CERT_FILE is set and TLS_KEY_FILE is not; set both or neither",
		"TLS_KEY_FILE=k":                                     "TLS_KEY_FILE is set and TLS_CERT_FILE is not; set both or neither",
		"TLS_CERT_FILE=c TLS_KEY_FILE=k ACME_DOMAINS=a.test": "TLS_CERT_FILE and ACME_DOMAINS are both set; set only one of them",
		"ACME_DIRECTORY=https://a.test/dir":                  "ACME_DIRECTORY requires ACME_DOMAINS: set it, or remove ACME_DIRECTORY",
		"ACME_DOMAINS=a.test ADDR=unix:s":                    "ACME_DOMAINS needs a port that the authority can reach, and ADDR names a Unix socket",
	} {
		environ := make(map[string]string)
		for option := range strings.FieldsSeq(options) {
			env, text, _ := strings.Cut(option, "=")
			environ[env] = text
		}
		err := load(t, config.Sources{Environ: environ}).CheckServe()
		if (err != nil) != (want != "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
}
