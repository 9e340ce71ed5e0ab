package config_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plantstore/internal/config"
)

// A sample is an option with three right values, none of them the default.
type sample struct {
	env    string
	field  func(*config.Config) any
	preset string   // the field by default, as text
	texts  []string // of the option
	fields []string // the field for each, as text; nil: the texts
}

// samples returns one sample for each option of the table but PORT.
func samples() []sample {
	return slices.Concat(placeSamples(), tlsSamples(), tokenSamples(), serverSamples())
}

// placeSamples are samples of the options for addresses and storage.
func placeSamples() []sample {
	return []sample{
		{"ADDR", func(c *config.Config) any { return c.Addr }, "127.0.0.1:8080", []string{":1", "unix:/run/a b.sock", "localhost:0"}, nil},
		{
			"BASE_URL", func(c *config.Config) any { return c.BaseURL }, "",
			[]string{"http://a", "https://b:8443/plants", "http://[::1]:1/"},
			nil,
		},
		{
			"STORAGE_URL", func(c *config.Config) any { return c.Storage.URL + " " + c.Storage.Path }, "bbolt:data/plants.db data/plants.db",
			[]string{"bbolt:a.db", "b.db", "bbolt:///c.db"},
			[]string{"bbolt:a.db a.db", "b.db b.db", "bbolt:///c.db /c.db"},
		},
		{
			"CORS_ORIGINS", func(c *config.Config) any { return strings.Join(c.CORSOrigins, "|") }, "",
			[]string{"*", "https://docs.a.test", "http://localhost:3000, https://[::1]:8443,app://b"},
			[]string{"*", "https://docs.a.test", "http://localhost:3000|https://[::1]:8443|app://b"},
		},
		{"DOCS", func(c *config.Config) any { return c.Docs }, "true", []string{"OFF", "yes", "0"}, []string{"false", "true", "false"}},
	}
}

// tlsSamples are samples of the options for TLS.
func tlsSamples() []sample {
	longest := strings.Repeat("a.", 95) + strings.Repeat("b", 63) // 253 bytes, and so may be its last label
	return []sample{
		{"TLS_CERT_FILE", func(c *config.Config) any { return c.TLSCertFile }, "", oddTexts(), nil},
		{"TLS_KEY_FILE", func(c *config.Config) any { return c.TLSKeyFile }, "", oddTexts(), nil},
		{
			"ACME_DOMAINS", func(c *config.Config) any { return strings.Join(c.ACMEDomains, "|") }, "",
			[]string{"a.example.com", "A.test., b-2.test", "xn--4ca.1a," + longest + "."},
			[]string{"a.example.com", "a.test|b-2.test", "xn--4ca.1a|" + longest},
		},
		{
			"ACME_DIRECTORY", func(c *config.Config) any { return c.ACMEDirectory }, "",
			[]string{"https://a/dir", "https://[::1]:14000/dir", "https://b"},
			nil,
		},
	}
}

// oddTexts returns right values of an option that accepts any text.
func oddTexts() []string {
	const long = " of thirty-two bytes and more"
	return []string{"https://a.example" + long, `it's "b" for $5 # ` + "`x`!" + long, "ü \u00a0 \u2028\ufeff" + long}
}

// tokenSamples are samples of the options for tokens.
func tokenSamples() []sample {
	return []sample{
		{"JWT_SECRET", func(c *config.Config) any { return string(c.JWTSecret) }, "", oddTexts(), nil},
		{"JWT_SECRET_FILE", func(c *config.Config) any { return c.JWTSecretFile }, "", oddTexts(), nil},
		{
			"JWT_PUBLIC_KEYS", func(c *config.Config) any { return strings.Join(c.JWTPublicKeys, "|") }, "",
			[]string{"a.pem", "a b.pem, /c.json", "it's.pem,x,y"},
			[]string{"a.pem", "a b.pem|/c.json", "it's.pem|x|y"},
		},
		{
			"JWT_JWKS_URL", func(c *config.Config) any { return c.JWTJWKSURL }, "",
			[]string{"https://a/jwks.json", "http://127.0.0.1:1/k?a=b", "http://[::1]/"},
			nil,
		},
		{
			"JWT_ISSUER", func(c *config.Config) any { return strings.Join(c.JWTIssuers, "|") }, "",
			[]string{"me", "https://a/, https://b/", "it's me,you"},
			[]string{"me", "https://a/|https://b/", "it's me|you"},
		},
		{
			"JWT_AUDIENCE", func(c *config.Config) any { return strings.Join(c.JWTAudiences, "|") }, "",
			[]string{"plants", "api://plants, 0oa1", "a b,c"},
			[]string{"plants", "api://plants|0oa1", "a b|c"},
		},
		{"JWT_SCOPE", func(c *config.Config) any { return c.JWTScope }, "", []string{"plants", "plants:create", "!#~"}, nil},
		{
			"JWT_REQUIRE_EXP", func(c *config.Config) any { return c.JWTRequireExp }, "false",
			[]string{"true", "1", "On"},
			[]string{"true", "true", "true"},
		},
	}
}

// serverSamples are samples of the options for limits and logs.
func serverSamples() []sample {
	durations, long := []string{"1ms", "1h", "1m1s"}, []string{"1ms", "1h0m0s", "1m1s"}
	return []sample{
		{"MAX_BODY_BYTES", func(c *config.Config) any { return c.MaxBodyBytes }, "1048576", []string{"1", "67108864", "2000"}, nil},
		{"MAX_CONNECTIONS", func(c *config.Config) any { return c.MaxConnections }, "10000", []string{"1", "1000000", "500"}, nil},
		{"REQUEST_TIMEOUT", func(c *config.Config) any { return c.RequestTimeout }, "30s", durations, long},
		{"RATE_LIMIT", func(c *config.Config) any { return c.RateLimit }, "", []string{"100/s", "1/m", "1000000/h"}, nil},
		{
			"SHUTDOWN_DELAY", func(c *config.Config) any { return c.ShutdownDelay }, "0s",
			[]string{"0s", "1h", "1.5s"},
			[]string{"0s", "1h0m0s", "1.5s"},
		},
		{"SHUTDOWN_TIMEOUT", func(c *config.Config) any { return c.ShutdownTimeout }, "10s", durations, long},
		{
			"ADMIN_ADDR", func(c *config.Config) any { return c.AdminAddr }, "127.0.0.1:8081",
			[]string{":1", "off", "localhost:0"},
			[]string{":1", "", "localhost:0"},
		},
		{"PPROF", func(c *config.Config) any { return c.Pprof }, "false", []string{"True", "no", "on"}, []string{"true", "false", "true"}},
		{
			"LOG_LEVEL", func(c *config.Config) any { return c.LogLevel }, "INFO",
			[]string{"debug", "WARN", "Error"},
			[]string{"DEBUG", "WARN", "ERROR"},
		},
		{"LOG_FORMAT", func(c *config.Config) any { return c.LogFormat }, "", []string{"text", "JSON", "text"}, []string{"text", "json", "text"}},
		{
			"FAULTS", func(c *config.Config) any { return fmt.Sprint(c.Faults, c.FaultsAlways) }, "false false",
			[]string{"1", "Always", "off"},
			[]string{"true false", "true true", "false false"},
		},
	}
}

// wrongValues returns values that each option refuses, by its name in the
// environment. JWT_SECRET is checked where it is used.
func wrongValues() map[string][]string {
	duration := []string{"5", "abc", "-1s", "0s", "999us", "1h1ns", "1h 1s", "9999999h"}
	return map[string][]string{
		"ADDR": {
			"8080", "localhost", "localhost:http", ":65536", ":-1", ":+1", ":", "a:b:1", "http://a:1", "::1:80", ":1\n", "unix:", "unix:a\nb", "UNIX:/a",
		},
		"PORT":        {"http", "65536", "-1", ":80", "8080 ", "+1"},
		"BASE_URL":    {"plants", "ftp://a", "http://", "http:a", "http://u:p@a", "http://a?q", "http://a#f", "http://a b"},
		"STORAGE_URL": {"bbolt:", "a\x00b", "a\nb", "caf\xe9.db", `C:\data\`, `"a.db"`, "a b.db", "host=h", "//h/a.db", "user:p@h"},
		"CORS_ORIGINS": {
			"https://a/", "https://a/b", "a", "https://", "https://A", "https://a:443", "http://a:80", "http://a:", "*,https://a",
			"https://a,", ",", "https://a;https://b", "https://a https://b", "null", "https://u@a", "https://a?q", "https://a#f",
			"https://*.a", "HTTPS://a", "https://ä",
		},
		"TLS_CERT_FILE": {"a\nb"},
		"TLS_KEY_FILE":  {"a\x00b"},
		"ACME_DOMAINS": {
			"localhost", "*.a.test", "a.test,", "a.test:443", "https://a.test", "ä.test", "a.test b.test", ".", "localhost.", "a.test..", "a..b", ".a.b",
			"-a.b", "a-.b", "a.-b", "a.b-", "a_b.test", "1.2.3.4", "a.1", "::1", "a.test,1.2.3.4",
			strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 125) + "test",
		},
		"ACME_DIRECTORY":  {"http://a", "a", "https://", "https:a", "https://u:p@a"},
		"DOCS":            {"t", "disabled", "2", "on "},
		"JWT_SECRET_FILE": {"a\nb", "\x7f"},
		"JWT_PUBLIC_KEYS": {",", "a.pem,", " ", "a\nb"},
		"JWT_JWKS_URL": {
			"jwks.json", "http://issuer.example/jwks", "http://10.0.0.1/", "http://127.0.0.1.example/", "ftp://localhost/", "https://",
			"https://u:p@a/", "https://a/#k", "file:///jwks.json", "https://a\n",
		},
		"ADMIN_ADDR":       {"8081", "on", "127.0.0.1", ":", ":x", ":65536", "::1:8081", "off ", "unix:/a"},
		"PPROF":            {"y", "public"},
		"JWT_ISSUER":       {"a\tb", "\x1b[31m", "\xff", ",", "a,,b"},
		"JWT_AUDIENCE":     {"a\rb", "\u0085", `\`, "a, "},
		"JWT_SCOPE":        {"two scopes", `"`, `\`, "ü", "\n"},
		"JWT_REQUIRE_EXP":  {"2", "t", " true"},
		"MAX_BODY_BYTES":   {"0", "-1", "67108865", "1M", "1e6", "9223372036854775808", "0x10"},
		"MAX_CONNECTIONS":  {"0", "-1", "1000001", "many", "1e3"},
		"REQUEST_TIMEOUT":  duration,
		"SHUTDOWN_DELAY":   {"5", "abc", "-1s", "1h1ns", "1h 1s", "9999999h"},
		"SHUTDOWN_TIMEOUT": duration,
		"RATE_LIMIT":       {"100", "100/d", "none"},
		"FAULTS":           {"never", "on,always", "code=503:1%"},
		"LOG_LEVEL":        {"trace", "info+1", "0"},
		"LOG_FORMAT":       {"logfmt"},
	}
}

// TestTable checks that the error of a wrong value is one line, which begins with the names of the option, and has
// the value at most once; that secrets have no flag, since others could read it off the command line; and that an
// empty flag is wrong where there is a default, and none elsewhere.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, o := range config.Options() {
		if o.Env != strings.ToUpper(o.Env) || seen[o.Env] || o.Help == "" || strings.ContainsAny(o.Help, "|\n") {
			t.Errorf("%+v: the name is used twice or is not in capitals, or the help is missing or breaks a table", o)
		}
		seen[o.Env] = true
		if o.Env != "JWT_SECRET" && o.Env != "PORT" && wrongValues()[o.Env] == nil {
			t.Errorf("%s has no wrong values", o.Env)
		}
		start := o.Env + ": "
		if o.Flag != "" {
			start = o.Env + " (--" + o.Flag + "): "
		}
		for _, text := range wrongValues()[o.Env] {
			_, err := config.Load(config.Sources{Environ: map[string]string{o.Env: text}})
			if err == nil || !strings.HasPrefix(err.Error(), start) || strings.Contains(err.Error(), "\n") ||
				strings.Count(err.Error(), strconv.Quote(text)) > 1 {
				t.Errorf("%s=%q: %v", o.Env, text, err)
			}
		}
		if o.Flag == "" {
			continue
		}
		if flag := strings.ReplaceAll(strings.ToLower(o.Env), "_", "-"); o.Flag != flag || o.Secret {
			t.Errorf("the flag of %s is --%s, want --%s, or none for a secret", o.Env, o.Flag, flag)
		}
		if _, err := config.Load(config.Sources{Flags: map[string]string{o.Env: ""}}); (err != nil) != (o.Default != "") {
			t.Errorf("--%s='': %v, want an error: %t", o.Flag, err, o.Default != "")
		}
	}
}
