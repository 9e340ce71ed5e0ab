package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

// configured returns the action of a command that needs the configuration.
func configured(p *Process, run func(context.Context, *Process, *cli.Command, *config.Config) error) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		c, err := loadConfig(p, cmd)
		if err != nil {
			return err
		}
		return run(ctx, p, cmd, c)
	}
}

func loadConfig(p *Process, cmd *cli.Command) (*config.Config, error) {
	dotenv, err := readDotenv()
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkSpelling(p, ".env", dotenv), checkSpelling(p, "environment", p.environ())); err != nil {
		return nil, err
	}
	flags, err := givenFlags(p, cmd)
	if err != nil {
		return nil, err
	}
	c, err := config.Load(config.Sources{Engines: p.Engines, StorageOptions: p.StorageOptions, Flags: flags, Environ: p.environ(), Dotenv: dotenv})
	if err != nil {
		return nil, misuseBy(err)
	}
	return c, nil
}

// checkSpelling prints a warning for each long name that is nearly that of an option. Others may belong
// to other programs. It refuses a misspelled option for tokens: a server without it accepts more tokens.
func checkSpelling(p *Process, source string, values map[string]string) error {
	options := p.options()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(name) < 8 || slices.ContainsFunc(options, func(o config.Option) bool { return o.Env == name }) {
			continue
		}
		near := slices.IndexFunc(options, func(o config.Option) bool { return config.Near(name, o.Env) })
		if near < 0 {
			continue
		}
		text := fmt.Sprintf("%s: %s is not an option: did you mean %s?", source, name, options[near].Env)
		if strings.HasPrefix(name, "JWT_") {
			return misuse("%s", text)
		}
		fmt.Fprintf(p.Stderr, "%s: %s\n", p.Name, text)
	}
	return nil
}

func readDotenv() (map[string]string, error) {
	dir, _ := os.Getwd() // empty: unknown
	dotenv, err := config.ReadDotenv(filepath.Join(dir, config.DotenvFile))
	switch {
	case errors.Is(err, config.ErrDotenv):
		return nil, misuse(".env: %v", err)
	case err != nil:
		return nil, misuse("%w; make it a file that only this user can change and read, or run the command in another directory", err)
	}
	return dotenv, nil
}

// givenFlags returns the values of the given flags by [config.Option.Env]. It rejects a flag
// as the value of another one: the value is missing, or a shell variable is empty.
func givenFlags(p *Process, cmd *cli.Command) (map[string]string, error) {
	given := make(map[string]string)
	for _, o := range p.options() {
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
