package config

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"time"

	"plantstore/internal/auth"
	"plantstore/internal/secretfile"
	"plantstore/storage"
)

// A Config is the effective configuration.
type Config struct {
	Addr            string
	SocketMode      fs.FileMode // of the socket, if Addr is that of one
	AdminAddr       string      // empty: there is no admin listener
	Pprof           bool        // the admin listener has profiles
	PprofPublic     bool        // also if others may reach it
	BaseURL         string      // empty: from the address that is listened on
	TLSCertFile     string
	TLSKeyFile      string
	ACMEDomains     []string // none: certificates do not come by ACME
	ACMEDirectory   string   // empty: that of Let's Encrypt
	ACMEEmail       string
	ACMECache       string           // empty: beside the data
	StorageURL      string           // may hold a password
	StorageURLFile  string           // empty, or the file with StorageURL, for ReadStorageURL
	Storage         storage.Location // StorageURL, taken apart
	JWTSecret       auth.Secret      // nil if none is given
	JWTSecretFile   string
	JWTPublicKeys   []string // files
	JWTJWKSURL      string
	JWTIssuer       string
	JWTAudience     string
	JWTScope        string
	JWTRequireExp   bool
	JWTLeeway       time.Duration
	CORSOrigins     []string // "*" alone stands for all; empty: CORS is off
	Docs            bool     // there is a page at /docs
	MaxBodyBytes    int64
	JournalBytes    int64 // 0: no journal
	MaxConnections  int
	HeaderTimeout   time.Duration
	RequestTimeout  time.Duration
	IdleTimeout     time.Duration
	ShutdownTimeout time.Duration
	LogLevel        slog.Level
	LogFormat       string // empty: text on a terminal, else json
	AuditLog        string // a path, or AuditStdout; empty: none

	// Unknown are the names in .env that are those of no option, in order: they are
	// misspelt, or for other programs, or pieces of a secret that was wrapped.
	Unknown []string

	// Exposed are the files of the configuration that hold a secret and that other users
	// can read, as far as whoever read them has put them here.
	Exposed []secretfile.Exposure

	values map[string]value // by Option.Env
}

// Sources are where values come from, the strongest first. All are keyed by
// [Option.Env]. In the environment and in .env an empty value is none; an empty
// flag takes back what they say, if the option has no default.
type Sources struct {
	Flags   map[string]string
	Environ map[string]string
	Dotenv  map[string]string
}

// A value is what an option was given, and how strong its source is.
type value struct {
	text     string
	strength int
}

// The strengths of the sources.
const (
	fromDefault = iota
	fromDotenv
	fromEnviron
	fromFlag
)

// lookup returns the value of an option from the strongest source that has one.
func (s Sources) lookup(o Option) value {
	if text, ok := s.Flags[o.Env]; ok {
		return value{text, fromFlag}
	}
	if text := s.Environ[o.Env]; text != "" {
		return value{text, fromEnviron}
	}
	if text := s.Dotenv[o.Env]; text != "" {
		return value{text, fromDotenv}
	}
	return value{o.Default, fromDefault}
}

// unknown returns the names in .env that are those of no option.
func (s Sources) unknown() []string {
	names := Names()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Dotenv)), func(name string) bool {
		return slices.Contains(names, name)
	})
}

// Load returns the configuration that the sources make up. The error names
// every option whose value is wrong, a line each.
func Load(sources Sources) (*Config, error) {
	c := &Config{values: make(map[string]value), Unknown: sources.unknown()}
	var problems []error
	for _, option := range Options() {
		v := sources.lookup(option)
		c.values[option.Env] = v
		if err := option.apply(c, v); err != nil {
			problems = append(problems, err)
		}
	}
	problems = append(problems, c.settleSecret(), c.settleStorage())
	problems = slices.DeleteFunc(problems, func(err error) bool { return err == nil })
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	c.applyPort()
	return c, nil
}

// settleSecret drops the weaker of JWT_SECRET and JWT_SECRET_FILE. It returns an error
// if neither is.
func (c *Config) settleSecret() error {
	dropped, err := c.weaker("JWT_SECRET", "JWT_SECRET_FILE")
	switch dropped {
	case "JWT_SECRET":
		c.JWTSecret = nil
	case "JWT_SECRET_FILE":
		c.JWTSecretFile = ""
	}
	return err
}

// settleStorage does the same for STORAGE_URL and STORAGE_URL_FILE. With the latter
// there is no place until [Config.ReadStorageURL] has read it.
func (c *Config) settleStorage() error {
	dropped, err := c.weaker("STORAGE_URL", "STORAGE_URL_FILE")
	switch dropped {
	case "STORAGE_URL":
		c.StorageURL, c.Storage = "", storage.Location{}
	case "STORAGE_URL_FILE":
		c.StorageURLFile = ""
	}
	if err != nil {
		err = fmt.Errorf("%w; if an image or a unit has set STORAGE_URL, set it to nothing", err)
	}
	return err
}

// weaker drops the value of one of two options that name the same thing, text and file,
// and returns its name. It returns an error if both come from the same source.
func (c *Config) weaker(text, file string) (dropped string, err error) {
	if c.values[text].text == "" || c.values[file].text == "" {
		return "", nil
	}
	switch t, f := c.values[text].strength, c.values[file].strength; {
	case t > f:
		dropped = file
	case f > t:
		dropped = text
	default:
		return "", fmt.Errorf("%s and %s are both given; give one of them", text, file)
	}
	c.values[dropped] = value{}
	return dropped, nil
}

// applyPort makes PORT=n mean ADDR=:n where nothing as strong says otherwise.
func (c *Config) applyPort() {
	if port := c.values["PORT"]; port.strength > c.values["ADDR"].strength {
		c.Addr = ":" + port.text
		c.values["ADDR"] = value{c.Addr, port.strength}
	}
}

// apply checks the value of an option and puts it in its place. The error names
// the option; a secret is not repeated.
func (o Option) apply(c *Config, v value) error {
	if v.text == "" && o.Default == "" {
		return nil
	}
	err := o.set(c, v.text)
	if err == nil && !o.Secret {
		err = checkText(v.text)
	}
	if err == nil && v.strength == fromFlag {
		err = o.checkFlag(v.text)
	}
	if err == nil {
		return nil
	}
	name := o.Env
	if o.Flag != "" {
		name += " (--" + o.Flag + ")"
	}
	if o.Secret {
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s: %q: %w", name, o.shown(v.text), err)
}

// Given returns the value of the option with that name in the environment, and
// whether it is from a flag or from the environment. What is not, other commands
// that are run in the same folder find out by themselves.
func (c *Config) Given(env string) (text string, given bool) {
	v := c.values[env]
	return v.text, v.strength >= fromEnviron
}

// Lines returns the configuration as lines of a .env file that loads back to
// itself, but for secrets, which read REDACTED.
func (c *Config) Lines() []string {
	var lines []string
	for _, option := range Options() {
		if option.Env == "PORT" { // ADDR says it already
			continue
		}
		text := option.shown(c.values[option.Env].text)
		lines = append(lines, option.Env+"="+quote(text))
	}
	return lines
}

// HasSecret reports whether a secret signs tokens: one that is configured, or, where
// there are no public keys, one that is generated.
func (c *Config) HasSecret() bool {
	return c.JWTSecret != nil || c.JWTSecretFile != "" || c.JWTPublicKeys == nil && c.JWTJWKSURL == ""
}
