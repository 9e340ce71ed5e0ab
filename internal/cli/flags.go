package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

// decimal is for flags with integers: by default the library also accepts 0x10, and 010 as 8.
func decimal() cli.IntegerConfig { return cli.IntegerConfig{Base: 10} }

// commonOptions are the options that the help of serve describes, most used first.
func commonOptions() []string {
	return []string{
		"ADDR", "STORAGE_URL", "DOCS", "CORS_ORIGINS", "JWT_SECRET_FILE", "JWT_PUBLIC_KEYS", "ADMIN_ADDR", "LOG_LEVEL",
	}
}

// allOptionFlags returns the flags of all options: the common ones first, the others hidden.
func allOptionFlags() []cli.Flag {
	flags := optionFlags(commonOptions()...)
	for _, o := range config.Options() {
		if o.Flag != "" && !slices.Contains(commonOptions(), o.Env) {
			flags = append(flags, optionFlag(o, true))
		}
	}
	return flags
}

// optionFlags returns the flags of options, by their names in the environment.
func optionFlags(envs ...string) []cli.Flag {
	var flags []cli.Flag
	options := config.Options()
	for _, env := range envs {
		i := slices.IndexFunc(options, func(o config.Option) bool { return o.Env == env })
		flags = append(flags, optionFlag(options[i], false))
	}
	return flags
}

// optionFlag returns the flag of an option. Package config checks a text together with the
// values of other sources.
func optionFlag(o config.Option, hidden bool) cli.Flag {
	if o.Bool {
		return &cli.BoolFlag{Name: o.Flag, Usage: o.Help, HideDefault: true, Hidden: hidden}
	}
	return &cli.StringFlag{Name: o.Flag, Usage: o.Help, DefaultText: o.Default, HideDefault: o.Default == "", Hidden: hidden}
}

// otherOptions lists the flags that the help of serve does not describe, a line for each
// group.
func otherOptions() string {
	var text strings.Builder
	text.WriteString("Further options (plantstore help options):")
	group := ""
	for _, o := range config.Options() {
		if o.Flag == "" || slices.Contains(commonOptions(), o.Env) {
			continue
		}
		if o.Group != group {
			group = o.Group
			text.WriteString("\n  " + group + ":")
		}
		text.WriteString(" --" + o.Flag)
	}
	return wrapped(text.String(), "    ", helpWidth-3)
}

// A choice is a flag with a few valid values, which shells complete.
type choice struct {
	*cli.StringFlag
	values []string
}

func choiceFlag(name, usage, preset string, values ...string) cli.Flag {
	validate := func(text string) error {
		if slices.Contains(values, text) {
			return nil
		}
		last := len(values) - 1
		return fmt.Errorf("must be %s or %s", strings.Join(values[:last], ", "), values[last])
	}
	return &choice{&cli.StringFlag{Name: name, Usage: usage, Value: preset, Validator: validate}, values}
}

// storageOptions returns the options for the location of the plants.
func storageOptions() []string { return []string{"STORAGE_URL", "STORAGE_URL_FILE"} }

// storeFlags returns the flags of a command that uses the store.
func storeFlags(flags ...cli.Flag) []cli.Flag {
	return append(flags, optionFlags(storageOptions()...)...)
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print the result as JSON", HideDefault: true}
}

// formatFlag returns the flag of commands that print plants.
func formatFlag() cli.Flag {
	return choiceFlag("format", "`format` of the output: table, jsonl or csv (default: table on a terminal, else jsonl)", "", "table", "jsonl", "csv")
}

// quietFlag returns the flag of commands that may take long.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "print errors only", HideDefault: true}
}
