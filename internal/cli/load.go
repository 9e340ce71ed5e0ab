package cli

import (
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
	if err := checkSpelling(p, dotenv); err != nil {
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

// checkSpelling refuses a name in .env that is nearly that of an option for tokens: a server without
// the option accepts more tokens. It warns about one of another option, which may be of another program,
// and about one in the environment.
func checkSpelling(p *Process, dotenv map[string]string) error {
	for _, text := range misspelled(p.options(), p.environ(), jwtPrefix) { // systemd passes .env as environment
		fmt.Fprintf(p.Stderr, "%s: environment: %s\n", p.Name, text)
	}
	for _, text := range misspelled(p.options(), dotenv, "") {
		if strings.HasPrefix(text, jwtPrefix) {
			return misuse(".env: %s", text)
		}
		fmt.Fprintf(p.Stderr, "%s: .env: %s\n", p.Name, text)
	}
	return nil
}

// jwtPrefix begins the names of the options for tokens.
const jwtPrefix = "JWT_"

// misspelled returns a sentence for each long name with that prefix and a value that is nearly that of
// an option.
func misspelled(options []config.Option, values map[string]string, prefix string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		known := slices.ContainsFunc(options, func(o config.Option) bool { return o.Env == name })
		if known || len(name) < 8 || values[name] == "" || !strings.HasPrefix(name, prefix) {
			continue
		}
		near := slices.IndexFunc(options, func(o config.Option) bool { return config.Near(name, o.Env) })
		if near >= 0 {
			all = append(all, fmt.Sprintf("%s is not an option: did you mean %s?", name, options[near].Env))
		}
	}
	return all
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
