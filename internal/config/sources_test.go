package config_test

import (
	"fmt"
	"strings"
	"testing"

	"plantstore/internal/config"
)

func load(t *testing.T, sources config.Sources) *config.Config {
	t.Helper()
	c, err := config.Load(sources)
	if err != nil {
		t.Fatalf("Load(%v): %v", sources, err)
	}
	return c
}

// TestPrecedence checks that flags win over the environment, the environment over .env, and
// .env over the default; a flag does so even if its value is the default. An empty value in the environment or in
// .env is none.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	all := samples()
	for _, o := range config.Options() {
		if o.Env == "PORT" { // TestAlternatives
			continue
		}
		if len(all) == 0 || all[0].env != o.Env {
			t.Fatalf("%s has no sample", o.Env)
		}
		s := all[0]
		all = all[1:]
		if s.fields == nil {
			s.fields = s.texts
		}
		sources := config.Sources{}
		check := func(from, want string) {
			t.Helper()
			if got := fmt.Sprint(s.field(load(t, sources))); got != want {
				t.Errorf("%s %s: %s, want %s", s.env, from, got, want)
			}
		}
		check("by default", s.preset)
		sources.Dotenv = map[string]string{s.env: ""}
		check("empty in .env", s.preset)
		sources.Dotenv = map[string]string{s.env: s.texts[0]}
		check("with .env", s.fields[0])
		sources.Environ = map[string]string{s.env: ""}
		check("empty in the environment", s.fields[0])
		sources.Environ = map[string]string{s.env: s.texts[1]}
		check("with the environment", s.fields[1])
		sources.Flags = map[string]string{s.env: s.texts[2]}
		check("with a flag", s.fields[2])
		sources.Flags[s.env] = o.Default
		check("with a flag like the default", s.preset)
	}
}

// TestAlternatives checks that of two options for one thing, the address or the secret, the one of higher precedence
// wins. A source can give PORT next to ADDR, which wins, but not both a secret and its file.
func TestAlternatives(t *testing.T) {
	t.Parallel()
	type options = map[string]string
	const long = "a secret of more than thirty-two bytes"
	port, addr, ports := options{"PORT": "3000"}, options{"ADDR": "localhost:1"}, options{"PORT": "3000", "ADDR": "localhost:1"}
	text, file, secrets := options{"JWT_SECRET": long}, options{"JWT_SECRET_FILE": "f"}, options{"JWT_SECRET": long, "JWT_SECRET_FILE": "f"}
	for name, test := range map[string]struct {
		flags, environ, dotenv options
		want                   string // the address, the secret and its file; empty: an error
	}{
		"PORT":                            {nil, port, nil, ":3000  "},
		"PORT 0":                          {nil, options{"PORT": "0"}, nil, ":0  "},
		"PORT in .env":                    {nil, nil, port, ":3000  "},
		"PORT next to ADDR":               {nil, ports, nil, "localhost:1  "},
		"PORT next to ADDR in .env":       {nil, nil, ports, "localhost:1  "},
		"PORT against a flag":             {addr, port, nil, "localhost:1  "},
		"PORT against .env":               {nil, port, addr, ":3000  "},
		"PORT in .env, ADDR wins":         {nil, addr, port, "localhost:1  "},
		"flag over environment":           {file, text, nil, "127.0.0.1:8080  f"},
		"environment over .env":           {nil, text, file, "127.0.0.1:8080 " + long + " "},
		"file over the secret in .env":    {nil, file, text, "127.0.0.1:8080  f"},
		"invalid secret that is not used": {nil, file, options{"JWT_SECRET": "short"}, "127.0.0.1:8080  f"},
		"secret and file":                 {nil, secrets, nil, ""},
		"secret and file in .env":         {nil, nil, secrets, ""},
	} {
		c, err := config.Load(config.Sources{Flags: test.flags, Environ: test.environ, Dotenv: test.dotenv})
		if (err != nil) != (test.want == "") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err != nil {
			continue
		}
		got := c.Addr + " " + string(c.JWTSecret) + " " + c.JWTSecretFile
		if got != test.want || c.Lines()[0] != "ADDR="+c.Addr {
			t.Errorf("%s: %q and the first line %q, want %q", name, got, c.Lines()[0], test.want)
		}
	}
}

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
