package config_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/config"
)

// A sample is an option with three right values, none of them the default.
type sample struct {
	env    string
	field  func(*config.Config) any
	preset any
	texts  [3]string
	values [3]any
}

// samples returns one sample for each option of the table but PORT.
func samples() []sample {
	return slices.Concat(placeSamples(), tlsSamples(), tokenSamples(), serverSamples())
}

// placeSamples are samples of the options for addresses and storage.
func placeSamples() []sample {
	return []sample{
		{
			"ADDR", func(c *config.Config) any { return c.Addr }, "127.0.0.1:8080",
			[3]string{":1", "unix:/run/a b.sock", "localhost:0"},
			[3]any{":1", "unix:/run/a b.sock", "localhost:0"},
		},
		same("BASE_URL", func(c *config.Config) any { return c.BaseURL }, "http://a", "https://b:8443/plants", "http://[::1]:1/"),
		{
			"STORAGE_URL", func(c *config.Config) any { return c.Storage.URL + " " + c.Storage.Path },
			"bbolt:data/plants.db data/plants.db",
			[3]string{"bbolt:a.db", "b.db", "bbolt:///c.db"},
			[3]any{"bbolt:a.db a.db", "b.db b.db", "bbolt:///c.db /c.db"},
		},
		{
			"CORS_ORIGINS", func(c *config.Config) any { return strings.Join(c.CORSOrigins, "|") }, "",
			[3]string{"*", "https://docs.a.test", "http://localhost:3000, https://[::1]:8443,app://b"},
			[3]any{"*", "https://docs.a.test", "http://localhost:3000|https://[::1]:8443|app://b"},
		},
		onOff("DOCS", true, func(c *config.Config) any { return c.Docs }),
	}
}

// tokenSamples are samples of the options for tokens.
func tokenSamples() []sample {
	return []sample{
		text("JWT_SECRET", func(c *config.Config) any { return string(c.JWTSecret) }),
		text("JWT_SECRET_FILE", func(c *config.Config) any { return c.JWTSecretFile }),
		{
			"JWT_PUBLIC_KEYS", func(c *config.Config) any { return strings.Join(c.JWTPublicKeys, "|") }, "",
			[3]string{"a.pem", "a b.pem, /c.json", "it's.pem,x,y"},
			[3]any{"a.pem", "a b.pem|/c.json", "it's.pem|x|y"},
		},
		same("JWT_JWKS_URL", func(c *config.Config) any { return c.JWTJWKSURL }, "https://a/jwks.json", "http://127.0.0.1:1/k?a=b", "http://[::1]/"),
		{
			"JWT_ISSUER", func(c *config.Config) any { return strings.Join(c.JWTIssuers, "|") }, "",
			[3]string{"me", "https://a/, https://b/", "it's me,you"},
			[3]any{"me", "https://a/|https://b/", "it's me|you"},
		},
		{
			"JWT_AUDIENCE", func(c *config.Config) any { return strings.Join(c.JWTAudiences, "|") }, "",
			[3]string{"plants", "api://plants, 0oa1", "a b,c"},
			[3]any{"plants", "api://plants|0oa1", "a b|c"},
		},
		{
			"JWT_SCOPE", func(c *config.Config) any { return c.JWTScope }, "",
			[3]string{"plants", "plants:create", "!#~"},
			[3]any{"plants", "plants:create", "!#~"},
		},
		{
			"JWT_REQUIRE_EXP", func(c *config.Config) any { return c.JWTRequireExp }, false,
			[3]string{"true", "1", "T"},
			[3]any{true, true, true},
		},
	}
}

// serverSamples are samples of the options for limits and logs.
func serverSamples() []sample {
	return []sample{
		{
			"MAX_BODY_BYTES", func(c *config.Config) any { return c.MaxBodyBytes }, int64(1 << 20),
			[3]string{"1", "67108864", "2000"},
			[3]any{int64(1), int64(64 << 20), int64(2000)},
		},
		{
			"MAX_CONNECTIONS", func(c *config.Config) any { return c.MaxConnections }, 10_000,
			[3]string{"1", "1000000", "500"},
			[3]any{1, 1_000_000, 500},
		},
		span("REQUEST_TIMEOUT", 30*time.Second, func(c *config.Config) any { return c.RequestTimeout }),
		{
			"RATE_LIMIT", func(c *config.Config) any { return c.RateLimit.String() }, "",
			[3]string{"100/s", "1/m", "1000000/h"},
			[3]any{"100/s", "1/m", "1000000/h"},
		},
		{
			"SHUTDOWN_DELAY", func(c *config.Config) any { return c.ShutdownDelay }, time.Duration(0),
			[3]string{"0s", "1h", "1.5s"},
			[3]any{time.Duration(0), time.Hour, 1500 * time.Millisecond},
		},
		span("SHUTDOWN_TIMEOUT", 10*time.Second, func(c *config.Config) any { return c.ShutdownTimeout }),
		{
			"ADMIN_ADDR", func(c *config.Config) any { return c.AdminAddr }, "127.0.0.1:8081",
			[3]string{":1", "off", "localhost:0"},
			[3]any{":1", "", "localhost:0"},
		},
		{
			"PPROF", func(c *config.Config) any { return c.Pprof }, false,
			[3]string{"on", "off", "on"},
			[3]any{true, false, true},
		},
		{
			"LOG_LEVEL", func(c *config.Config) any { return c.LogLevel }, slog.LevelInfo,
			[3]string{"debug", "warn", "error"},
			[3]any{slog.LevelDebug, slog.LevelWarn, slog.LevelError},
		},
		{
			"LOG_FORMAT", func(c *config.Config) any { return c.LogFormat }, "",
			[3]string{"text", "json", "text"},
			[3]any{"text", "json", "text"},
		},
		{
			"FAULTS", func(c *config.Config) any { return fmt.Sprint(c.Faults, c.FaultsAlways) }, "false false",
			[3]string{"on", "always", "off"},
			[3]any{"true false", "true true", "false false"},
		},
	}
}

// text returns the sample of an option that accepts any text.
func text(env string, field func(*config.Config) any) sample {
	const long = " of thirty-two bytes and more"
	return same(env, field, "https://a.example"+long, `it's "b" for $5 # `+"`x`!"+long, "ü \u00a0 \u2028\ufeff"+long)
}

// same returns the sample of an option without a default that keeps texts unchanged.
func same(env string, field func(*config.Config) any, texts ...string) sample {
	return sample{env, field, "", [3]string(texts), [3]any{texts[0], texts[1], texts[2]}}
}

// onOff returns the sample of a switch.
func onOff(env string, preset bool, field func(*config.Config) any) sample {
	return sample{env, field, preset, [3]string{"off", "on", "off"}, [3]any{false, true, false}}
}

// span returns the sample of a time-out.
func span(env string, preset time.Duration, field func(*config.Config) any) sample {
	return sample{
		env, field, preset,
		[3]string{"1ms", "1h", "1m1s"},
		[3]any{time.Millisecond, time.Hour, 61 * time.Second},
	}
}

func TestEveryOptionHasASample(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, o := range config.Options() {
		if o.Env != "PORT" { // TestPort
			want = append(want, o.Env)
		}
	}
	for _, s := range samples() {
		got = append(got, s.env)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options without a sample, or the reverse (-options +samples):\n%s", diff)
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
		"DOCS":            {"true", "OFF", "no", "0", "on "},
		"JWT_SECRET_FILE": {"a\nb", "\x7f"},
		"JWT_PUBLIC_KEYS": {",", "a.pem,", " ", "a\nb"},
		"JWT_JWKS_URL": {
			"jwks.json", "http://issuer.example/jwks", "http://10.0.0.1/", "http://127.0.0.1.example/", "ftp://localhost/", "https://",
			"https://u:p@a/", "https://a/#k", "file:///jwks.json", "https://a\n",
		},
		"ADMIN_ADDR":       {"8081", "on", "OFF", "127.0.0.1", ":", ":x", ":65536", "::1:8081", "off ", "unix:/a"},
		"PPROF":            {"true", "ON", "1", "public"},
		"JWT_ISSUER":       {"a\tb", "\x1b[31m", "\xff", ",", "a,,b"},
		"JWT_AUDIENCE":     {"a\rb", "\u0085", `\`, "a, "},
		"JWT_SCOPE":        {"two scopes", `"`, `\`, "ü", "\n"},
		"JWT_REQUIRE_EXP":  {"yes", "2", "on", " true"},
		"MAX_BODY_BYTES":   {"0", "-1", "67108865", "1M", "1e6", "9223372036854775808", "0x10"},
		"MAX_CONNECTIONS":  {"0", "-1", "1000001", "many", "1e3"},
		"REQUEST_TIMEOUT":  duration,
		"SHUTDOWN_DELAY":   {"5", "abc", "-1s", "1h1ns", "1h 1s", "9999999h"},
		"SHUTDOWN_TIMEOUT": duration,
		"RATE_LIMIT":       {"100", "100/d", "OFF", "none"},
		"FAULTS":           {"true", "ON", "on,always", "code=503:1%"},
		"LOG_LEVEL":        {"INFO", "trace", "info+1", "0"},
		"LOG_FORMAT":       {"TEXT", "logfmt"},
	}
}

func TestWrongValues(t *testing.T) {
	t.Parallel()
	for env, texts := range wrongValues() {
		for _, text := range texts {
			t.Run(env+"="+text, func(t *testing.T) {
				t.Parallel()
				_, err := config.Load(config.Sources{Environ: map[string]string{env: text}})
				if err == nil || !strings.HasPrefix(err.Error(), env) || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), strconv.Quote(text)) > 1 {
					t.Errorf("got %v, want one line that begins with the name, and has the value once", err)
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
