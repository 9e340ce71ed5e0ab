package cli

import (
	"io"

	"github.com/urfave/cli/v3"

	"plantstore/internal/plantio"
	"plantstore/internal/printable"
)

// fileFormat returns the format of --format, or else by the file name, with
// --spreadsheet-safe.
func fileFormat(cmd *cli.Command, file string) (plantio.Format, error) {
	format := plantio.FormatOf(file)
	if cmd.IsSet(flagFormat) {
		var err error
		if format, err = plantio.ParseFormat(cmd.String(flagFormat)); err != nil {
			return format, misuse("--format: %v", err)
		}
	}
	return safeFormat(cmd, format)
}

// safeFormat returns format, or with --spreadsheet-safe its variant for spreadsheets, which
// requires CSV.
func safeFormat(cmd *cli.Command, format plantio.Format) (plantio.Format, error) {
	switch {
	case !cmd.Bool(flagSafe):
		return format, nil
	case format != plantio.CSV:
		return format, misuse("--%s: is for CSV: add --format csv, or leave it out", flagSafe)
	}
	return plantio.SafeCSV, nil
}

// plantWriter returns a writer of plants to w in the format of the flags.
func plantWriter(w io.Writer, cmd *cli.Command) (plantio.Writer, error) {
	name, format := cmd.String(flagFormat), plantio.JSONLines
	table := name == "table" || name == "" && printable.IsTerminal(w)
	if name != "" && !table {
		var err error
		if format, err = plantio.ParseFormat(name); err != nil {
			return nil, misuse("--format: %q: must be table, jsonl or csv", name)
		}
	}
	format, err := safeFormat(cmd, format)
	if err != nil {
		return nil, err
	}
	if table {
		return plantio.NewTable(w), nil
	}
	return plantio.NewWriter(w, format), nil
}
