package config_test

import (
	"fmt"
	"log/slog"
	"slices"
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
			"STORAGE_URL", func(c *config.Config) any { return c.StorageURL + " " + c.Storage.Path },
			"bbolt:data/plants.db data/plants.db",
			[3]string{"bbolt:a.db", "b.db", "bbolt:///c.db"},
			[3]any{"bbolt:a.db a.db", "b.db b.db", "bbolt:///c.db /c.db"},
		},
		text("STORAGE_URL_FILE", func(c *config.Config) any { return c.StorageURLFile }),
		{
			"JOURNAL_BYTES", func(c *config.Config) any { return c.JournalBytes }, int64(32 << 20),
			[3]string{"0", "134217728", "131072"},
			[3]any{int64(0), int64(128 << 20), int64(128 << 10)},
		},
		{
			"CORS_ORIGINS", func(c *config.Config) any { return strings.Join(c.CORSOrigins, "|") }, "",
			[3]string{"*", "https://docs.a.test", "http://localhost:3000, https://[::1]:8443,app://b"},
			[3]any{"*", "https://docs.a.test", "http://localhost:3000|https://[::1]:8443|app://b"},
		},
		onOff("DOCS", true, func(c *config.Config) any { return c.Docs }),
	}
}

// tokenSamples are samples of the options for the admin listener and for tokens.
func tokenSamples() []sample {
	return []sample{
		{
			"ADMIN_ADDR", func(c *config.Config) any { return c.AdminAddr }, "127.0.0.1:8081",
			[3]string{":1", "off", "localhost:0"},
			[3]any{":1", "", "localhost:0"},
		},
		{
			"PPROF", func(c *config.Config) any { return fmt.Sprint(c.Pprof, c.PprofPublic) }, "false false",
			[3]string{"on", "off", "public"},
			[3]any{"true false", "false false", "true true"},
		},
		text("JWT_SECRET", func(c *config.Config) any { return string(c.JWTSecret) }),
		text("JWT_SECRET_FILE", func(c *config.Config) any { return c.JWTSecretFile }),
		{
			"JWT_PUBLIC_KEYS", func(c *config.Config) any { return strings.Join(c.JWTPublicKeys, "|") }, "",
			[3]string{"a.pem", "a b.pem, /c.json", "it's.pem,x,y"},
			[3]any{"a.pem", "a b.pem|/c.json", "it's.pem|x|y"},
		},
		same("JWT_JWKS_URL", func(c *config.Config) any { return c.JWTJWKSURL }, "https://a/jwks.json", "http://127.0.0.1:1/k?a=b", "http://[::1]/"),
		text("JWT_ISSUER", func(c *config.Config) any { return c.JWTIssuer }),
		text("JWT_AUDIENCE", func(c *config.Config) any { return c.JWTAudience }),
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
		{
			"JWT_LEEWAY", func(c *config.Config) any { return c.JWTLeeway }, 5 * time.Second,
			[3]string{"0s", "1m", "1.5s"},
			[3]any{time.Duration(0), time.Minute, 1500 * time.Millisecond},
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
		span("HEADER_TIMEOUT", 5*time.Second, func(c *config.Config) any { return c.HeaderTimeout }),
		span("REQUEST_TIMEOUT", 30*time.Second, func(c *config.Config) any { return c.RequestTimeout }),
		span("IDLE_TIMEOUT", 2*time.Minute, func(c *config.Config) any { return c.IdleTimeout }),
		{
			"SHUTDOWN_DELAY", func(c *config.Config) any { return c.ShutdownDelay }, time.Duration(0),
			[3]string{"0s", "1h", "1.5s"},
			[3]any{time.Duration(0), time.Hour, 1500 * time.Millisecond},
		},
		span("SHUTDOWN_TIMEOUT", 10*time.Second, func(c *config.Config) any { return c.ShutdownTimeout }),
		{
			"RATE_LIMIT", func(c *config.Config) any { return c.RateLimit.String() }, "",
			[3]string{"100/s", "1/m", "1000000/h"},
			[3]any{"100/s", "1/m", "1000000/h"},
		},
		{
			"RATE_LIMIT_BURST", func(c *config.Config) any { return c.RateLimitBurst }, 0,
			[3]string{"1", "1000000", "250"},
			[3]any{1, 1_000_000, 250},
		},
		{
			"RATE_LIMIT_BY", func(c *config.Config) any { return c.RateLimitBy },
			config.RateLimitBy{Address: true, Subject: true},
			[3]string{"address", "subject", "subject,address"},
			[3]any{config.RateLimitBy{Address: true}, config.RateLimitBy{Subject: true}, config.RateLimitBy{Address: true, Subject: true}},
		},
		{
			"FAULTS", func(c *config.Config) any { return fmt.Sprint(c.Faults) }, "{false false []}",
			[3]string{"on", "always, code=503:1%", "code=500;outcome=stored:0.5%,delay=200ms:100%"},
			[3]any{
				"{true false []}", "{true true [{{503  0s} 1}]}",
				"{true false [{{500 stored 0s} 0.5} {{0  200ms} 100}]}",
			},
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
			"AUDIT_LOG", func(c *config.Config) any { return c.AuditLog }, "",
			[3]string{"a.jsonl", "stdout", "c.jsonl"},
			[3]any{"a.jsonl", config.AuditStdout, "c.jsonl"},
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

func load(t *testing.T, sources config.Sources) *config.Config {
	t.Helper()
	c, err := config.Load(sources)
	if err != nil {
		t.Fatalf("Load(%v): %v", sources, err)
	}
	return c
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

// TestPrecedence checks that flags win over the environment, the environment over .env, and
// .env over the default.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	for _, s := range samples() {
		t.Run(s.env, func(t *testing.T) {
			t.Parallel()
			sources := config.Sources{}
			if got := s.field(load(t, sources)); got != s.preset {
				t.Errorf("by default %#v, want %#v", got, s.preset)
			}
			sources.Dotenv = map[string]string{s.env: s.texts[0]}
			if got := s.field(load(t, sources)); got != s.values[0] {
				t.Errorf("with .env %#v, want %#v", got, s.values[0])
			}
			sources.Environ = map[string]string{s.env: s.texts[1]}
			if got := s.field(load(t, sources)); got != s.values[1] {
				t.Errorf("with the environment %#v, want %#v", got, s.values[1])
			}
			sources.Flags = map[string]string{s.env: s.texts[2]}
			if got := s.field(load(t, sources)); got != s.values[2] {
				t.Errorf("with a flag %#v, want %#v", got, s.values[2])
			}
		})
	}
}

// TestFlagEqualToDefaultWins checks that a flag has precedence even if its value is the
// default.
func TestFlagEqualToDefaultWins(t *testing.T) {
	t.Parallel()
	for _, o := range config.Options() {
		if o.Flag == "" {
			continue
		}
		t.Run(o.Env, func(t *testing.T) {
			t.Parallel()
			s := samples()[sampleIndex(t, o.Env)]
			c := load(t, config.Sources{
				Flags:   map[string]string{o.Env: o.Default},
				Environ: map[string]string{o.Env: s.texts[0]},
				Dotenv:  map[string]string{o.Env: s.texts[1]},
			})
			if got := s.field(c); got != s.preset {
				t.Errorf("%#v, want the default %#v", got, s.preset)
			}
		})
	}
}

func sampleIndex(t *testing.T, env string) int {
	t.Helper()
	for i, s := range samples() {
		if s.env == env {
			return i
		}
	}
	t.Fatalf("no sample of %s", env)
	return 0
}

// TestEmptyIsNone checks that an empty value in the environment or in .env counts as none.
func TestEmptyIsNone(t *testing.T) {
	t.Parallel()
	empty := make(map[string]string)
	for _, o := range config.Options() {
		empty[o.Env] = ""
	}
	want := load(t, config.Sources{}).Lines()
	if diff := cmp.Diff(want, load(t, config.Sources{Environ: empty, Dotenv: empty}).Lines()); diff != "" {
		t.Errorf("all empty (-none +empty):\n%s", diff)
	}
	c := load(t, config.Sources{
		Environ: map[string]string{"JWT_ISSUER": ""},
		Dotenv:  map[string]string{"JWT_ISSUER": "from .env"},
	})
	if c.JWTIssuer != "from .env" {
		t.Errorf("an empty variable overrides .env: %q", c.JWTIssuer)
	}
}

func TestPort(t *testing.T) {
	t.Parallel()
	port, addr := map[string]string{"PORT": "3000"}, map[string]string{"ADDR": "localhost:1"}
	both := map[string]string{"PORT": "3000", "ADDR": "localhost:1"}
	tests := map[string]struct {
		sources config.Sources
		want    string
	}{
		"alone":                           {config.Sources{Environ: port}, ":3000"},
		"alone in .env":                   {config.Sources{Dotenv: port}, ":3000"},
		"next to ADDR":                    {config.Sources{Environ: both}, "localhost:1"},
		"next to ADDR in .env":            {config.Sources{Dotenv: both}, "localhost:1"},
		"against a flag":                  {config.Sources{Environ: port, Flags: addr}, "localhost:1"},
		"in the environment against .env": {config.Sources{Environ: port, Dotenv: addr}, ":3000"},
		"in .env against the environment": {config.Sources{Dotenv: port, Environ: addr}, "localhost:1"},
		"0":                               {config.Sources{Environ: map[string]string{"PORT": "0"}}, ":0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := load(t, test.sources)
			if c.Addr != test.want || c.Lines()[0] != "ADDR="+test.want {
				t.Errorf("Addr is %q and the first line %q, want %q", c.Addr, c.Lines()[0], test.want)
			}
		})
	}
}

// TestAllWrongValuesAreReported checks that all faults are reported at once, a line each, by
// their names.
func TestAllWrongValuesAreReported(t *testing.T) {
	t.Parallel()
	wrong := make(map[string]string)
	var want []string
	for env, texts := range wrongValues() {
		wrong[env] = texts[0]
		want = append(want, env)
	}
	wrong["JWT_SECRET"] = "beside JWT_SECRET_FILE, and long enough"
	c, err := config.Load(config.Sources{Environ: wrong})
	if err == nil || c != nil {
		t.Fatalf("Load = %v, %v, want an error alone", c, err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want)+2 {
		t.Errorf("%d lines, want one for each of %v, one for the two secrets and one for the two storage URLs:\n%v", len(lines), want, err)
	}
	for _, o := range config.Options() {
		if texts := wrongValues()[o.Env]; texts == nil {
			continue
		}
		start := o.Env + ": "
		if o.Flag != "" {
			start = o.Env + " (--" + o.Flag + "): "
		}
		if !strings.Contains("\n"+err.Error(), "\n"+start) {
			t.Errorf("no line starts with %q:\n%v", start, err)
		}
	}
	if last := lines[len(lines)-2]; !strings.Contains(last, "JWT_SECRET and JWT_SECRET_FILE are both given") {
		t.Errorf("the line before the last is %q", last)
	}
}

// TestGiven checks that values from flags and the environment count as given; values from .env
// and defaults do not.
func TestGiven(t *testing.T) {
	t.Parallel()
	c := load(t, config.Sources{
		Flags:   map[string]string{"JWT_ISSUER": "i", "LOG_LEVEL": "info"},
		Environ: map[string]string{"JWT_AUDIENCE": "a"},
		Dotenv:  map[string]string{"JWT_SCOPE": "s"},
	})
	tests := map[string]struct {
		text  string
		given bool
	}{
		"JWT_ISSUER":   {"i", true},
		"LOG_LEVEL":    {"info", true},
		"JWT_AUDIENCE": {"a", true},
		"JWT_SCOPE":    {"s", false},
		"JWT_LEEWAY":   {"5s", false},
		"NO_SUCH":      {"", false},
	}
	for env, want := range tests {
		if text, given := c.Given(env); text != want.text || given != want.given {
			t.Errorf("Given(%s) = %q, %t, want %q, %t", env, text, given, want.text, want.given)
		}
	}
}

// TestUnknownNames checks that unknown names in .env are reported, but not unknown names in the
// environment.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	dotenv := map[string]string{"ADDR": ":1", "JWT_SECRT": "s", "COMPOSE_FILE": "", "Yw": "=", "PORT2": "1", "docs": "off"}
	got := load(t, config.Sources{Dotenv: dotenv, Environ: map[string]string{"HOME": "/"}}).Unknown
	if diff := cmp.Diff([]string{"COMPOSE_FILE", "JWT_SECRT", "PORT2", "Yw", "docs"}, got); diff != "" {
		t.Errorf("unknown names (-want +got):\n%s", diff)
	}
}
