package cli

import (
	"io"

	"github.com/urfave/cli/v3"

	"plantstore/internal/plantio"
	"plantstore/internal/printable"
)

// fileFormat returns the format of --format, or else by the file name.
func fileFormat(cmd *cli.Command, file string) (plantio.Format, error) {
	if !cmd.IsSet(flagFormat) {
		return plantio.FormatOf(file), nil
	}
	format, err := plantio.ParseFormat(cmd.String(flagFormat))
	if err != nil {
		return format, misuse("--format: %v", err)
	}
	return format, nil
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
	name := cmd.String(flagFormat)
	if cmd.Bool(flagSafe) && name != "csv" {
		_, err := safeFormat(cmd, plantio.JSONLines)
		return nil, err
	}
	if name == "table" || name == "" && printable.IsTerminal(w) {
		return plantio.NewTable(w), nil
	}
	if name == "" {
		name = "jsonl"
	}
	format, err := plantio.ParseFormat(name)
	if err != nil {
		return nil, misuse("--format: %q: must be table, jsonl or csv", name)
	}
	if format, err = safeFormat(cmd, format); err != nil {
		return nil, err
	}
	return plantio.NewWriter(w, format), nil
}
