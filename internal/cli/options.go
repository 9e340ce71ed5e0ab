package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/misspell"
)

// decimal is for flags with integers: by default the library also accepts 0x10, and 010 as 8.
func decimal() cli.IntegerConfig { return cli.IntegerConfig{Base: 10} }

// optionFlags returns the flags of options, by their names in the environment, or those of all options, in their
// groups. Package config checks a text together with the values of other sources.
func optionFlags(p *Process, envs ...string) (flags []cli.Flag) {
	for _, o := range p.options() {
		category := o.Group
		if envs != nil {
			category = ""
		}
		if o.Flag != "" && (envs == nil || slices.Contains(envs, o.Env)) {
			flags = append(flags, &cli.StringFlag{Name: o.Flag, Usage: o.Help, Category: category, DefaultText: o.Default, HideDefault: o.Default == ""})
		}
	}
	return flags
}

func choiceFlag(name, usage, preset string, values ...string) cli.Flag {
	validate := func(text string) error { _, err := config.Choice(text, values); return err }
	return &cli.StringFlag{Name: name, Usage: usage, Value: preset, DefaultText: preset, HideDefault: preset == "", Validator: validate}
}

// chosen returns the value of a choiceFlag.
func chosen(cmd *cli.Command, name string) string { return strings.ToLower(cmd.String(name)) }

// storageOptions returns the options for the location of the plants. The second one is of plantstore-cluster.
func storageOptions() []string { return []string{"STORAGE_URL", "STORAGE_URL_FILE"} }

func storeFlags(p *Process, flags ...cli.Flag) []cli.Flag {
	return append(flags, optionFlags(p, storageOptions()...)...)
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print the result as JSON", HideDefault: true}
}

func formatFlag() cli.Flag {
	return choiceFlag("format", "`FORMAT` of the output: table, jsonl or csv (default: table on a terminal, else jsonl)", "", "table", "jsonl", "csv")
}

func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "print errors only", HideDefault: true}
}

// configured returns the action of a command that needs the configuration. others are as for loadConfig.
func configured(p *Process, run func(context.Context, *Process, *cli.Command, *config.Config) error, others ...string) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		c, misspelled, err := loadConfig(p, cmd, others...)
		printMisspelled(p, misspelled)
		if err != nil {
			return err
		}
		return run(ctx, p, cmd, c)
	}
}

// loadConfig returns the options that a command uses: those of its flags, and others whose names in the
// environment begin with one of others. It also returns the names that are nearly those of options.
func loadConfig(p *Process, cmd *cli.Command, others ...string) (*config.Config, []misspelling, error) {
	dir, _ := os.Getwd() // empty: unknown
	dotenv, err := config.ReadDotenv(filepath.Join(dir, config.DotenvFile))
	if err != nil {
		return nil, nil, misuseBy(app.AdviseRead(err, ""))
	}
	found := slices.DeleteFunc(misspellings(p, "environment", p.environ()), func(m misspelling) bool {
		return !m.ofTokens() // it may be of another program
	})
	found = append(found, misspellings(p, config.DotenvFile, dotenv)...)
	if i := slices.IndexFunc(found, func(m misspelling) bool { return m.ofTokens() && m.source == config.DotenvFile }); i >= 0 {
		return nil, nil, misuse("%v", found[i]) // without the option, a server accepts more tokens
	}
	flags, err := givenFlags(p, cmd)
	if err != nil {
		return nil, found, err
	}
	used := slices.DeleteFunc(p.options(), func(o config.Option) bool {
		hasFlag := slices.ContainsFunc(cmd.Flags, func(f cli.Flag) bool { return f.Names()[0] == o.Flag })
		return !hasFlag && !slices.ContainsFunc(others, func(prefix string) bool { return strings.HasPrefix(o.Env, prefix) })
	})
	c, err := config.Load(config.Sources{Engines: p.Engines, Options: used, Flags: flags, Environ: p.environ(), Dotenv: dotenv})
	if err != nil {
		return nil, found, misuseBy(err)
	}
	return c, found, nil
}

// A misspelling is a name that is nearly that of an option.
type misspelling struct{ source, name, option string }

// ofTokens reports whether it seems to be of an option for tokens.
func (m misspelling) ofTokens() bool { return strings.HasPrefix(strings.ToUpper(m.name), "JWT_") }

func (m misspelling) String() string {
	return fmt.Sprintf("%s: %s is not an option: did you mean %s?", m.source, m.name, m.option)
}

// misspellings returns those among names with values.
func misspellings(p *Process, source string, values map[string]string) (found []misspelling) {
	options := p.options()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		exact := slices.ContainsFunc(options, func(o config.Option) bool { return o.Env == name })
		near := slices.IndexFunc(options, func(o config.Option) bool { return misspell.Near(strings.ToUpper(name), o.Env) })
		if near >= 0 && !exact && values[name] != "" {
			found = append(found, misspelling{source, name, options[near].Env})
		}
	}
	return found
}

func printMisspelled(p *Process, found []misspelling) {
	for _, m := range found {
		fmt.Fprintf(p.Stderr, "%s: %v\n", p.Name, m)
	}
}

// givenFlags returns the values of the given flags by [config.Option.Env]. It rejects a flag
// as the value of another one: the value is missing, or a shell variable is empty.
func givenFlags(p *Process, cmd *cli.Command) (map[string]string, error) {
	given := make(map[string]string)
	for _, o := range p.options() {
		if o.Flag == "" || !cmd.IsSet(o.Flag) {
			continue
		}
		text := cmd.String(o.Flag)
		if strings.HasPrefix(text, "--") {
			return nil, misuseOf(cmd, "--%s needs a value, and got %q", o.Flag, text)
		}
		given[o.Env] = text
	}
	return given, nil
}
