package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

// optionFlags returns flags for the options with these names in the
// environment, or for all options if there are none.
func optionFlags(envs ...string) []cli.Flag {
	var flags []cli.Flag
	for _, o := range config.Options() {
		if o.Flag != "" && (len(envs) == 0 || slices.Contains(envs, o.Env)) {
			flags = append(flags, optionFlag(o))
		}
	}
	return flags
}

// optionFlag returns the flag of an option. Package config checks its value, so
// that it can report it together with those of other sources.
func optionFlag(o config.Option) cli.Flag {
	shown := cli.NewValueSourceChain(envName(o.Env))
	if o.Bool {
		return &cli.GenericFlag{Name: o.Flag, Usage: o.Help, Sources: shown, Value: new(switchValue), HideDefault: true}
	}
	return &cli.StringFlag{
		Name: o.Flag, Usage: o.Help, Sources: shown, DefaultText: o.Default, HideDefault: o.Default == "",
	}
}

// A switchValue is the value of a flag that means true if none follows it.
type switchValue string

// Set implements [cli.Value].
func (v *switchValue) Set(text string) error { *v = switchValue(text); return nil }

// Get implements [cli.Value].
func (v *switchValue) Get() any { return string(*v) }

// String implements [cli.Value].
func (v *switchValue) String() string { return string(*v) }

// IsBoolFlag tells the library that the flag needs no value.
func (v *switchValue) IsBoolFlag() bool { return true }

// An envName shows the name in the environment in the help of a flag. The value
// itself comes from package config, which knows more sources and all checks.
type envName string

// Lookup implements [cli.ValueSource]: it finds nothing.
func (envName) Lookup() (string, bool) { return "", false }

// IsFromEnv implements [cli.EnvValueSource].
func (envName) IsFromEnv() bool { return true }

// Key implements [cli.EnvValueSource].
func (n envName) Key() string { return string(n) }

// String implements [fmt.Stringer].
func (n envName) String() string { return string(n) }

// GoString implements [fmt.GoStringer].
func (n envName) GoString() string { return string(n) }

// loadConfig reads the configuration for a command.
func loadConfig(p *Process, cmd *cli.Command) (*config.Config, error) {
	dotenv, err := config.ReadDotenv(".env")
	if errors.Is(err, config.ErrDotenv) {
		return nil, misuse(".env: %v", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; it may be the configuration that is meant: make it a file that this user can read, or go to another folder",
			absolute(".env"), reason(err))
	}
	flags, err := givenFlags(cmd)
	if err != nil {
		return nil, err
	}
	c, err := config.Load(config.Sources{Flags: flags, Environ: environ(p.Environ), Dotenv: dotenv})
	if err != nil {
		return nil, misuse("%v", err)
	}
	return c, engines(slog.New(slog.DiscardHandler)).Know(c.Storage)
}

// loadServerConfig reads the configuration for a command that runs a server by it, or
// shows it.
func loadServerConfig(p *Process, cmd *cli.Command) (*config.Config, error) {
	c, err := loadConfig(p, cmd)
	if err != nil {
		return nil, err
	}
	if err := c.CheckServe(); err != nil {
		return nil, misuse("%v", err)
	}
	return c, nil
}

// ignoredNames says which names in .env mean nothing to this program, but are nearly
// those of options. Others are for other programs, or pieces of a secret (C4.25). It is
// empty if there are none.
func ignoredNames(c *config.Config) string {
	var names []string
	options := config.Names()
	for _, name := range c.Unknown {
		if hint := didYouMean(strings.ToUpper(name), options); hint != "" {
			names = append(names, name+" ("+strings.TrimPrefix(hint, "; ")+")")
		}
	}
	return strings.Join(names, ", ")
}

// warnOfConfig says what may be meant otherwise in the configuration of a server at
// addr: names in .env, and a port that no ACME authority reaches.
func warnOfConfig(c *config.Config, addr string, logger *slog.Logger) {
	if names := ignoredNames(c); names != "" {
		logger.Warn(".env has names of no option", "names", names)
	}
	if _, port, err := net.SplitHostPort(addr); err == nil && port != "443" && len(c.ACMEDomains) > 0 {
		logger.Warn("an ACME authority connects to port 443 of the domains only: see to it that what arrives there is passed on to this port unchanged",
			"port", port)
	}
}

// absolute returns the path in full, if the folder it is relative to can be told.
func absolute(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return full
}

// givenFlags returns the values of the flags that were given, by the names of
// the options in the environment. It refuses a flag as value of another one: the
// value was left out, or a shell variable empty.
func givenFlags(cmd *cli.Command) (map[string]string, error) {
	given := make(map[string]string)
	for _, o := range config.Options() {
		if o.Flag == "" || !cmd.IsSet(o.Flag) {
			continue
		}
		text := fmt.Sprint(cmd.Value(o.Flag))
		if strings.HasPrefix(text, "--") {
			return nil, misuseOf(cmd, "--%s needs a value, and got %q", o.Flag, text)
		}
		given[o.Env] = text
	}
	return given, nil
}

// environ returns lines of NAME=value as a map.
func environ(lines []string) map[string]string {
	values := make(map[string]string, len(lines))
	for _, line := range lines {
		if name, text, ok := strings.Cut(line, "="); ok {
			values[name] = text
		}
	}
	return values
}
