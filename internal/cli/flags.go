package cli

import (
	"slices"

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

// storageOptions are the options that say where the plants are.
func storageOptions() []string { return []string{"STORAGE_URL", "STORAGE_URL_FILE"} }

// jsonFlag is that of the commands whose result a program may want to read.
func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print the result as JSON", HideDefault: true}
}

// formatFlag is that of the commands that print plants.
func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: "format", Usage: "`format` of the output: table, jsonl or csv (default: table on a terminal, else jsonl)"}
}

// quietFlag is that of the commands that take a while.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "print errors only", HideDefault: true}
}

// flagSafe is the flag for CSV that spreadsheets open.
const flagSafe = "spreadsheet-safe"

// safeFlag is the flag of the commands that write CSV.
func safeFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagSafe, Usage: "in CSV, quote names and tags that spreadsheets interpret as formulas", HideDefault: true}
}
