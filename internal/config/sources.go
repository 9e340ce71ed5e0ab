package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"plantstore/middleware/auth"
	"plantstore/storage"
)

// Sources are the sources of values, in descending order of precedence. All are keyed by
// [Option.Env]. An empty value in the environment or in .env is ignored. An empty flag
// overrides them if the option has no default.
type Sources struct {
	Flags, Environ, Dotenv map[string]string

	Engines storage.Engines // of the program; nil: STORAGE_URL may have any scheme
	Options []Option        // those that a command uses; others may have any value, as for another program; nil: all of [Options]
}

type value struct {
	text       string
	precedence int
}

const (
	fromDefault = iota
	fromDotenv
	fromEnviron
	fromFlag
)

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

// Load returns the configuration from the sources. The error has a line for each invalid
// option.
func Load(sources Sources) (*Config, error) {
	c := &Config{Engines: sources.Engines, options: sources.Options, values: make(map[string]value)}
	if c.options == nil {
		c.options = Options()
	}
	for _, option := range c.options {
		c.values[option.Env] = sources.lookup(option)
	}
	var problems, contradictions []error
	for _, option := range c.options {
		contradictions = append(contradictions, c.resolve(option))
	}
	for _, option := range c.options {
		if v, ok := c.values[option.Env]; ok {
			problems = append(problems, option.apply(c, v))
		}
	}
	if err := errors.Join(append(problems, contradictions...)...); err != nil {
		return nil, err
	}
	c.applyPort()
	return c, nil
}

// resolve deletes an option or the one that it replaces, whichever comes from the source with
// less precedence. Both from the same source are an error.
func (c *Config) resolve(o Option) error {
	if c.values[o.Instead].text == "" || c.values[o.Env].text == "" {
		return nil
	}
	switch replaced, own := c.values[o.Instead].precedence, c.values[o.Env].precedence; {
	case replaced > own:
		delete(c.values, o.Env)
	case own > replaced:
		delete(c.values, o.Instead)
	default:
		return fmt.Errorf("%s and %s are both set; set only one of them (an empty value counts as none)", o.Instead, o.Env)
	}
	return nil
}

// applyPort sets ADDR=:n for PORT=n, unless ADDR has the same or higher precedence.
func (c *Config) applyPort() {
	if port := c.values["PORT"]; port.precedence > c.values["ADDR"].precedence {
		c.Addr = ":" + port.text
		c.values["ADDR"] = value{c.Addr, port.precedence}
	}
}

// apply checks the value of an option and stores it in c. The error names the option, and
// the value unless it is secret.
func (o Option) apply(c *Config, v value) error {
	if v.text == "" && o.Default == "" {
		return nil
	}
	text, err := v.text, error(nil)
	if o.Values != nil {
		text, err = Choice(text, o.Values)
	}
	if err == nil {
		err = o.Set(c, text)
	}
	if err == nil && !o.Secret {
		err = CheckText(v.text)
	}
	if err == nil && v.precedence == fromFlag {
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

// Choice returns which one of several values in lower case a text is.
func Choice(text string, values []string) (string, error) {
	if lower := strings.ToLower(text); slices.Contains(values, lower) {
		return lower, nil
	}
	last := len(values) - 1
	return "", fmt.Errorf("must be %s or %s", strings.Join(values[:last], ", "), values[last])
}

// Given returns the value of an option, by its name in the environment, and whether it
// comes from a flag or the environment. Other values apply to all commands in this
// directory.
func (c *Config) Given(env string) (text string, given bool) {
	v := c.values[env]
	return v.text, v.precedence >= fromEnviron
}

// Lines returns the lines of a .env file that loads back to the same configuration, except
// for secrets, which are REDACTED.
func (c *Config) Lines() []string {
	var lines []string
	for _, option := range c.options {
		if option.Env == "PORT" { // part of ADDR
			continue
		}
		text := option.shown(c.values[option.Env].text)
		lines = append(lines, option.Env+"="+quote(text))
	}
	return lines
}

// Tokens returns which tokens a server accepts, without its keys.
func (c *Config) Tokens() auth.Options {
	return auth.Options{JWKSURL: c.JWTJWKSURL, Issuers: c.JWTIssuers, Audiences: c.JWTAudiences, Scope: c.JWTScope, RequireExp: c.JWTRequireExp}
}

// GeneratesSecret reports whether the secret is a generated one, as that next to the database.
func (c *Config) GeneratesSecret() bool {
	return c.JWTSecret == nil && c.JWTSecretFile == "" && c.HasSecret()
}

// HasSecret reports whether a secret signs tokens: a configured one, or a generated one if
// there are no public keys.
func (c *Config) HasSecret() bool {
	return c.JWTSecret != nil || c.JWTSecretFile != "" || c.JWTPublicKeys == nil && c.JWTJWKSURL == ""
}

// CheckServe returns an error if options contradict each other for a server, with a line
// for each reason. Other commands ignore these options.
func (c *Config) CheckServe() error {
	return errors.Join(c.checkPorts(), c.checkPprof(), c.checkTLS())
}

// CheckFaults returns an error if FAULTS needs an ephemeral store.
func (c *Config) CheckFaults(ephemeral bool) error {
	if !c.Faults || c.FaultsAlways || ephemeral {
		return nil
	}
	return errors.New(`FAULTS (--faults): "on": the store is permanent, and its clients may not expect errors on demand; ` +
		"start with --ephemeral, or set FAULTS to always")
}

// An InvalidError is returned for a well-formed value that can't be used, such as a path
// that the server itself uses. The program exits with the code for misuse.
type InvalidError struct{ error }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.error }

// Invalid returns an [InvalidError] with a message as of [fmt.Sprintf].
func Invalid(format string, args ...any) error {
	return &InvalidError{fmt.Errorf(format, args...)}
}
