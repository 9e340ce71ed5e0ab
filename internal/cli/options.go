package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/auth"
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
		return nil, err
	}
	c, err := config.Load(config.Sources{Flags: givenFlags(cmd), Environ: environ(p.Environ), Dotenv: dotenv})
	switch {
	case errors.Is(err, auth.ErrWeakSecret) && !strings.Contains(err.Error(), "\n"):
		return nil, err // well formed, but of no use
	case err != nil:
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

// warnOfNames says so if .env has names that mean nothing to this program.
func warnOfNames(c *config.Config, logger *slog.Logger) {
	if len(c.Unknown) > 0 {
		logger.Warn("names in .env that are none of plantstore's are ignored: plantstore config shows those that there are", "names", strings.Join(c.Unknown, ", "))
	}
}

// givenFlags returns the values of the flags that were given, by the names of
// the options in the environment.
func givenFlags(cmd *cli.Command) map[string]string {
	given := make(map[string]string)
	for _, o := range config.Options() {
		if o.Flag != "" && cmd.IsSet(o.Flag) {
			given[o.Env] = fmt.Sprint(cmd.Value(o.Flag))
		}
	}
	return given
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
