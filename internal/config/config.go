// Package config defines the options of the program in one table, and reads their values
// from flags, the environment and a .env file. The help texts, docs/configuration.md and
// .env.example are generated from the same table.
package config

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"plantstore/internal/ratelimit"
	"plantstore/middleware/auth"
	"plantstore/models"
	"plantstore/storage"
)

// A Config is the effective configuration.
type Config struct {
	Addr            string
	AdminAddr       string // empty: no admin listener
	Pprof           bool   // serve profiles on the admin listener
	BaseURL         string // empty: derived from the listen address
	TLSCertFile     string
	TLSKeyFile      string
	ACMEDomains     []string         // empty: no ACME
	ACMEDirectory   string           // empty: Let's Encrypt
	Storage         storage.Location // its URL may contain a password
	JWTSecret       auth.Secret      // nil: none given
	JWTSecretFile   string
	JWTPublicKeys   []string // files
	JWTJWKSURL      string
	JWTIssuers      []string // nil: iss is not checked
	JWTAudiences    []string // nil: aud is not checked
	JWTScope        string
	JWTRequireExp   bool
	CORSOrigins     []string // "*": all; empty: CORS is off
	Docs            bool     // serve the page at /docs
	MaxBodyBytes    int64
	MaxConnections  int
	RequestTimeout  time.Duration
	RateLimit       ratelimit.Rate // zero: none
	ShutdownDelay   time.Duration  // from SIGTERM to draining
	ShutdownTimeout time.Duration
	Faults          bool // requests may demand faults
	FaultsAlways    bool // also of a permanent store
	LogLevel        slog.Level
	LogFormat       string // empty: text on a terminal, else json

	Engines storage.Engines  // of the program
	options []Option         // the table
	values  map[string]value // by Option.Env
}

// An Option is one row of the table.
type Option struct {
	Env     string   // its name in the environment and in .env
	Flag    string   // its name on the command line, without dashes; secrets have none, since other users can read it
	Default string   // empty: none
	Help    string   // in one line; the name of its value is in back quotes
	Secret  bool     // its value is never printed (C4.25)
	Values  []string // the valid values if there are only a few, in lower case: Set gets no others
	Group   string   // the heading under which help and documents list it
	Instead string   // the option that it replaces, such as JWT_SECRET for JWT_SECRET_FILE; one source can't have both

	Set func(c *Config, value string) error // checks the value and stores it in c
}

// Options returns the table, with the options of a program for the location of the plants; none
// means STORAGE_URL for a database file.
func Options(storageOptions ...Option) []Option {
	if storageOptions == nil {
		storageOptions = []Option{StorageURL("`PATH` of the database, or bbolt:PATH")}
	}
	return slices.Concat(
		grouped("Service", addressOptions(), storageOptions, pageOptions()), grouped("TLS", tlsOptions()), grouped("Tokens", tokenOptions()),
		grouped("Operation", limitOptions(), adminOptions(), logOptions(), faultOptions()),
	)
}

func grouped(group string, parts ...[]Option) []Option {
	options := slices.Concat(parts...)
	for i := range options {
		options[i].Group = group
	}
	return options
}

func addressOptions() []Option {
	return []Option{
		{
			Env: "ADDR", Flag: "addr", Default: "127.0.0.1:8080",
			Help: "`HOST:PORT` to listen on (no host: all interfaces), or unix:PATH",
			Set:  func(c *Config, v string) error { c.Addr = v; return checkAddr(v) },
		},
		{
			Env:  "PORT",
			Help: "`PORT` to listen on, on all interfaces, if ADDR is not set",
			Set:  func(_ *Config, v string) error { return checkPort(v) },
		},
		{
			Env: "BASE_URL", Flag: "base-url",
			Help: "`URL` of the service for clients (default: from ADDR or Host)",
			Set:  func(c *Config, v string) error { c.BaseURL = v; return checkBaseURL(v) },
		},
	}
}

// DefaultStorageURL is the default of STORAGE_URL.
const DefaultStorageURL = "bbolt:data/plants.db"

// StorageURL returns the option STORAGE_URL with a help that names the engines of the program.
func StorageURL(help string) Option {
	return Option{Env: "STORAGE_URL", Flag: "storage-url", Default: DefaultStorageURL, Help: help, Set: (*Config).SetStorageURL}
}

func pageOptions() []Option {
	return []Option{
		{
			Env: "CORS_ORIGINS", Flag: "cors-origins",
			Help: "comma-separated `ORIGINS` whose pages may use the service, or * for all",
			Set:  parsed(parseOrigins, func(c *Config) *[]string { return &c.CORSOrigins }),
		},
		{
			Env: "DOCS", Flag: "docs", Default: "on",
			Help: "`SWITCH` for the docs page at /docs: on or off",
			Set:  parsed(parseBool, func(c *Config) *bool { return &c.Docs }),
		},
	}
}

func tokenOptions() []Option {
	return []Option{
		{
			Env: "JWT_SECRET", Secret: true,
			Help: "`SECRET` that signs tokens, at least 32 bytes (default: generated on first start and stored next to the database)",
			Set: func(c *Config, v string) error {
				c.JWTSecret = auth.Secret(v)
				if v == models.Redacted { // the output of config must load back
					return nil
				}
				return c.JWTSecret.Check()
			},
		},
		{
			Env: "JWT_SECRET_FILE", Flag: "jwt-secret-file", Instead: "JWT_SECRET",
			Help: "`FILE` with the secret, and older secrets that are still accepted, one on each line",
			Set:  func(c *Config, v string) error { c.JWTSecretFile = v; return nil },
		},
		{
			Env: "JWT_PUBLIC_KEYS", Flag: "jwt-public-keys",
			Help: "comma-separated `FILES` with public keys that verify tokens (PEM, JWK or JWK Set)",
			Set:  parsed(list(item("names of files")), func(c *Config) *[]string { return &c.JWTPublicKeys }),
		},
		{
			Env: "JWT_JWKS_URL", Flag: "jwt-jwks-url",
			Help: "`URL` of the JWK Set of your issuer; https, or http on loopback",
			Set:  func(c *Config, v string) error { c.JWTJWKSURL = v; return auth.CheckJWKSURL(v) },
		},
		{
			Env: "JWT_ISSUER", Flag: "jwt-issuer",
			Help: "comma-separated `ISSUERS`; a token needs one of them (iss)",
			Set:  parsed(list(item("issuers")), func(c *Config) *[]string { return &c.JWTIssuers }),
		},
		{
			Env: "JWT_AUDIENCE", Flag: "jwt-audience",
			Help: "comma-separated `AUDIENCES`; a token needs one of them (aud)",
			Set:  parsed(list(item("audiences")), func(c *Config) *[]string { return &c.JWTAudiences }),
		},
		{
			Env: "JWT_SCOPE", Flag: "jwt-scope",
			Help: "`SCOPE` that a token needs, else error 403",
			Set:  func(c *Config, v string) error { c.JWTScope = v; return checkScope(v) },
		},
		{
			Env: "JWT_REQUIRE_EXP", Flag: "jwt-require-exp", Default: "off",
			Help: "`SWITCH` for refusing tokens without an expiry (exp): on or off",
			Set:  parsed(parseBool, func(c *Config) *bool { return &c.JWTRequireExp }),
		},
	}
}

func limitOptions() []Option {
	return []Option{
		{
			Env: "MAX_BODY_BYTES", Flag: "max-body-bytes", Default: "1048576",
			Help: "maximum body size in `BYTES`, up to 64 MiB; beyond: error 413",
			Set:  parsed(number[int64]("of bytes ", 1, 64<<20), func(c *Config) *int64 { return &c.MaxBodyBytes }),
		},
		{
			Env: "MAX_CONNECTIONS", Flag: "max-connections", Default: "10000",
			Help: "maximum number `N` of open connections, 1 to 1000000; beyond: error 503",
			Set:  parsed(number("", 1, 1_000_000), func(c *Config) *int { return &c.MaxConnections }),
		},
		duration("REQUEST_TIMEOUT", "request-timeout", "30s", time.Millisecond, time.Hour,
			"`TIME` limit for receiving a request and sending the response",
			func(c *Config) *time.Duration { return &c.RequestTimeout }),
		{
			Env: "RATE_LIMIT", Flag: "rate-limit", Default: off,
			Help: "maximum `RATE` for each token subject, such as 100/s; beyond: error 429",
			Set:  parsed(parseRateLimit, func(c *Config) *ratelimit.Rate { return &c.RateLimit }),
		},
		duration("SHUTDOWN_DELAY", "shutdown-delay", "0s", 0, time.Hour,
			"`TIME` to keep serving after SIGTERM, while not ready",
			func(c *Config) *time.Duration { return &c.ShutdownDelay }),
		duration("SHUTDOWN_TIMEOUT", "shutdown-timeout", "10s", time.Millisecond, time.Hour,
			"`TIME` limit for draining requests after SIGTERM",
			func(c *Config) *time.Duration { return &c.ShutdownTimeout }),
	}
}

func faultOptions() []Option {
	return []Option{{
		Env: "FAULTS", Flag: "faults", Default: "off",
		Help: "`SWITCH` for errors on demand (Prefer: code=503): on, off or always",
		Set: func(c *Config, v string) (err error) {
			if c.FaultsAlways = strings.EqualFold(v, "always"); c.FaultsAlways {
				c.Faults = true
			} else if c.Faults, err = parseBool(v); err != nil {
				return errors.New("must be on, off or always")
			}
			return err
		},
	}}
}

func logOptions() []Option {
	return []Option{
		{
			Env: "LOG_LEVEL", Flag: "log-level", Default: "info", Values: []string{"debug", "info", "warn", "error"},
			Help: "minimum `LEVEL` of the log: debug, info, warn or error",
			Set:  func(c *Config, v string) error { return c.LogLevel.UnmarshalText([]byte(v)) },
		},
		{
			Env: "LOG_FORMAT", Flag: "log-format", Values: []string{"text", "json"},
			Help: "`FORMAT` of the log: text or json (default: text on a terminal, else json)",
			Set:  func(c *Config, v string) error { c.LogFormat = v; return nil },
		},
	}
}
