package config_test

import (
	"strings"
	"testing"

	"plantstore/internal/config"
)

// wrongValues returns values that each option refuses, by its name in the
// environment. JWT_SECRET is checked where it is used.
func wrongValues() map[string][]string {
	duration := []string{"5", "abc", "-1s", "0s", "999us", "1h1ns", "1h 1s", "9999999h"}
	return map[string][]string{
		"ADDR": {
			"8080", "localhost", "localhost:http", ":65536", ":-1", ":+1", ":", "a:b:1", "http://a:1", "::1:80", ":1\n", "unix:", "unix:a\nb", "UNIX:/a",
		},
		"PORT":             {"http", "65536", "-1", ":80", "8080 ", "+1"},
		"BASE_URL":         {"plants", "ftp://a", "http://", "http:a", "http://u:p@a", "http://a?q", "http://a#f", "http://a b"},
		"STORAGE_URL":      {"bbolt:", "a\x00b", "a\nb", "caf\xe9.db", `C:\data\`, `"a.db"`, "a b.db", "host=h", "//h/a.db", "user:p@h"},
		"STORAGE_URL_FILE": {"a\nb"},
		"JOURNAL_BYTES":    {"1", "131071", "134217729", "-131072", "32MiB", "1e6"},
		"CORS_ORIGINS": {
			"https://a/", "https://a/b", "a", "https://", "https://A", "https://a:443", "http://a:80", "http://a:", "*,https://a",
			"https://a,", ",", "https://a;https://b", "https://a https://b", "null", "https://u@a", "https://a?q", "https://a#f",
			"https://*.a", "HTTPS://a", "https://ä",
		},
		"SOCKET_MODE":   {"0", "rw", "0660 ", "1777", "0770x", "8", "0440", "-1"},
		"TLS_CERT_FILE": {"a\nb"},
		"TLS_KEY_FILE":  {"a\x00b"},
		"ACME_DOMAINS": {
			"localhost", "*.a.test", "a.test,", "a.test:443", "https://a.test", "ä.test", "a.test b.test", ".", "localhost.", "a.test..", "a..b", ".a.b",
			"-a.b", "a-.b", "a.-b", "a.b-", "a_b.test", "1.2.3.4", "a.1", "::1", "a.test,1.2.3.4",
			strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 125) + "test",
		},
		"ACME_DIRECTORY":  {"http://a", "a", "https://", "https:a", "https://u:p@a"},
		"ACME_EMAIL":      {"a\rb"},
		"ACME_CACHE":      {"a\nb"},
		"DOCS":            {"true", "OFF", "no", "0", "on "},
		"JWT_SECRET_FILE": {"a\nb", "\x7f"},
		"JWT_PUBLIC_KEYS": {",", "a.pem,", " ", "a\nb"},
		"JWT_JWKS_URL": {
			"jwks.json", "http://issuer.example/jwks", "http://10.0.0.1/", "http://127.0.0.1.example/", "ftp://localhost/", "https://",
			"https://u:p@a/", "https://a/#k", "file:///jwks.json", "https://a\n",
		},
		"ADMIN_ADDR":       {"8081", "on", "OFF", "127.0.0.1", ":", ":x", ":65536", "::1:8081", "off ", "unix:/a"},
		"PPROF":            {"true", "ON", "1"},
		"JWT_ISSUER":       {"a\tb", "\x1b[31m", "\xff"},
		"JWT_AUDIENCE":     {"a\rb", "\u0085", `\`},
		"JWT_SCOPE":        {"two scopes", `"`, `\`, "ü", "\n"},
		"JWT_REQUIRE_EXP":  {"yes", "2", "on", " true"},
		"JWT_LEEWAY":       {"5", "-1ns", "1m1ns", "soon"},
		"MAX_BODY_BYTES":   {"0", "-1", "67108865", "1M", "1e6", "9223372036854775808", "0x10"},
		"MAX_CONNECTIONS":  {"0", "-1", "1000001", "many", "1e3"},
		"HEADER_TIMEOUT":   duration,
		"REQUEST_TIMEOUT":  duration,
		"IDLE_TIMEOUT":     duration,
		"SHUTDOWN_DELAY":   {"5", "abc", "-1s", "1h1ns", "1h 1s", "9999999h"},
		"SHUTDOWN_TIMEOUT": duration,
		"RATE_LIMIT": {
			"100", "100/", "/s", "0/s", "-1/s", "+1/s", "1000001/s", "1e3/s", "0.5/s", "100/d", "100/S", "100 /s", "100/s ", "100/s/s", "OFF", "none", "4294967297/s",
		},
		"RATE_LIMIT_BURST": {"0", "-1", "1000001", "many", "1e3", "4294967297"},
		"RATE_LIMIT_BY":    {"ip", "address,", ",", "subject,subject", "address;subject", "address, subject", "Address"},
		"FAULTS": {
			"true", "ON", "on,", ",", "on,off", "code=503", "code=503:1", "code=503:0%", "code=503:101%", "code=503:NaN%", "code=200:1%", "code=999:1%",
			"delay=11s:1%", "delay=1:1%", "code=503:60%,code=507:50%", "503:1%", "code=503:-1%",
			"code=500;outcome=strored:1%", "code=409;outcome=stored:1%", "code=503;delay=2s:1%", "delay=2s;code=503:1%",
		},
		"LOG_LEVEL":  {"INFO", "trace", "info+1", "0"},
		"LOG_FORMAT": {"TEXT", "logfmt"},
	}
}

func TestWrongValues(t *testing.T) {
	t.Parallel()
	for env, texts := range wrongValues() {
		for _, text := range texts {
			t.Run(env+"="+text, func(t *testing.T) {
				t.Parallel()
				_, err := config.Load(config.Sources{Environ: map[string]string{env: text}})
				if err == nil || !strings.HasPrefix(err.Error(), env) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %v, want one line that begins with the name", err)
				}
			})
		}
	}
}

// TestEmptyFlags checks that an empty flag is wrong where there is a default, and none
// elsewhere.
func TestEmptyFlags(t *testing.T) {
	t.Parallel()
	for _, o := range config.Options() {
		if o.Flag == "" {
			continue
		}
		_, err := config.Load(config.Sources{Flags: map[string]string{o.Env: ""}})
		if wrong := o.Default != ""; (err != nil) != wrong {
			t.Errorf("--%s='': %v, want an error: %t", o.Flag, err, wrong)
		}
	}
}

// TestSecretsStaySecretInErrors checks that no secret is in an error, however wrong the rest
// (C4.25).
func TestSecretsStaySecretInErrors(t *testing.T) {
	t.Parallel()
	const secret = "do not tell"
	environ := map[string]string{"JWT_SECRET": secret, "JWT_SECRET_FILE": "x"}
	for env, texts := range wrongValues() {
		environ[env] = texts[0]
	}
	environ["STORAGE_URL"] = "postgres://user:" + secret + "@host/db\n"
	_, err := config.Load(config.Sources{Environ: environ})
	if err == nil || !strings.Contains(err.Error(), "STORAGE_URL") {
		t.Fatalf("got %v, want an error", err)
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the error contains a secret:\n%v", err)
	}
}

// TestTable checks that secrets have no flag, since others could read it off the command line.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, o := range config.Options() {
		if o.Env != strings.ToUpper(o.Env) || seen[o.Env] || o.Help == "" || strings.ContainsAny(o.Help, "|\n") {
			t.Errorf("%+v: the name is used twice or is not in capitals, or the help is missing or breaks a table", o)
		}
		seen[o.Env] = true
		if flag := strings.ReplaceAll(strings.ToLower(o.Env), "_", "-"); o.Flag != "" && o.Flag != flag {
			t.Errorf("the flag of %s is --%s, want --%s", o.Env, o.Flag, flag)
		}
		if o.Secret && o.Flag != "" {
			t.Errorf("the secret %s has a flag", o.Env)
		}
	}
}
