package cli

import (
	"slices"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

// optionFlags returns the flags of options, by their names in the environment; none: all
// options.
func optionFlags(envs ...string) []cli.Flag {
	var flags []cli.Flag
	for _, o := range config.Options() {
		if o.Flag != "" && (len(envs) == 0 || slices.Contains(envs, o.Env)) {
			flags = append(flags, optionFlag(o))
		}
	}
	return flags
}

// optionFlag returns the flag of an option. Package config checks its value together with
// the values of other sources.
func optionFlag(o config.Option) cli.Flag {
	shown := cli.NewValueSourceChain(envName(o.Env))
	if o.Bool {
		return &cli.GenericFlag{Name: o.Flag, Usage: o.Help, Sources: shown, Value: new(switchValue), HideDefault: true}
	}
	return &cli.StringFlag{
		Name: o.Flag, Usage: o.Help, Sources: shown, DefaultText: o.Default, HideDefault: o.Default == "",
	}
}

// A switchValue is the value of a flag that needs none; then it is true.
type switchValue string

// Set implements [cli.Value].
func (v *switchValue) Set(text string) error { *v = switchValue(text); return nil }

// Get implements [cli.Value].
func (v *switchValue) Get() any { return string(*v) }

// String implements [cli.Value].
func (v *switchValue) String() string { return string(*v) }

// IsBoolFlag reports to the library that the flag needs no value.
func (v *switchValue) IsBoolFlag() bool { return true }

// An envName shows the name of an environment variable in the help of a flag. Package
// config reads its value.
type envName string

// Lookup implements [cli.ValueSource]. It returns no value.
func (envName) Lookup() (string, bool) { return "", false }

// IsFromEnv implements [cli.EnvValueSource].
func (envName) IsFromEnv() bool { return true }

// Key implements [cli.EnvValueSource].
func (n envName) Key() string { return string(n) }

// String implements [fmt.Stringer].
func (n envName) String() string { return string(n) }

// GoString implements [fmt.GoStringer].
func (n envName) GoString() string { return string(n) }

// storageOptions returns the options for the location of the plants.
func storageOptions() []string { return []string{"STORAGE_URL", "STORAGE_URL_FILE"} }

// jsonFlag returns the flag for results as JSON.
func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print the result as JSON", HideDefault: true}
}

// formatFlag returns the flag of commands that print plants.
func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: "format", Usage: "`format` of the output: table, jsonl or csv (default: table on a terminal, else jsonl)"}
}

// quietFlag returns the flag of commands that may take long.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "print errors only", HideDefault: true}
}

// flagSafe is the flag for CSV that spreadsheets open.
const flagSafe = "spreadsheet-safe"

// safeFlag returns the flag of commands that write CSV.
func safeFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagSafe, Usage: "in CSV, quote names and tags that spreadsheets interpret as formulas", HideDefault: true}
}
