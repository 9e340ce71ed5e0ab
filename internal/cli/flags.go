package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

// decimal is for flags with integers: by default the library also accepts 0x10, and 010 as 8.
func decimal() cli.IntegerConfig { return cli.IntegerConfig{Base: 10} }

func allOptionFlags(p *Process) (flags []cli.Flag) {
	for _, o := range p.options() {
		if o.Flag != "" {
			flags = append(flags, optionFlag(o, o.Group))
		}
	}
	return flags
}

// optionFlags returns the flags of options, by their names in the environment.
func optionFlags(p *Process, envs ...string) (flags []cli.Flag) {
	options := p.options()
	for _, env := range envs {
		i := slices.IndexFunc(options, func(o config.Option) bool { return o.Env == env })
		flags = append(flags, optionFlag(options[i], ""))
	}
	return flags
}

// optionFlag returns the flag of an option. Package config checks a text together with the
// values of other sources.
func optionFlag(o config.Option, category string) cli.Flag {
	return &cli.StringFlag{Name: o.Flag, Usage: o.Help, Category: category, DefaultText: o.Default, HideDefault: o.Default == ""}
}

func choiceFlag(name, usage, preset string, values ...string) cli.Flag {
	validate := func(text string) error { _, err := config.Choice(text, values); return err }
	return &cli.StringFlag{Name: name, Usage: usage, Value: preset, DefaultText: preset, HideDefault: preset == "", Validator: validate}
}

// chosen returns the value of a choiceFlag.
func chosen(cmd *cli.Command, name string) string { return strings.ToLower(cmd.String(name)) }

func storageOptions(p *Process) (envs []string) {
	for _, o := range p.options() {
		if strings.HasPrefix(o.Env, "STORAGE_URL") {
			envs = append(envs, o.Env)
		}
	}
	return envs
}

func storeFlags(p *Process, flags ...cli.Flag) []cli.Flag {
	return append(flags, optionFlags(p, storageOptions(p)...)...)
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
