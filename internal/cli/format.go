package cli

import (
	"github.com/urfave/cli/v3"

	"plantstore/internal/plantio"
)

// fileFormat returns the format of --format, or else by the file name, with
// --spreadsheet-safe.
func fileFormat(cmd *cli.Command, file string) (plantio.Format, error) {
	format := plantio.FormatOf(file)
	switch cmd.String("format") {
	case "jsonl", "table":
		format = plantio.JSONLines
	case "csv":
		format = plantio.CSV
	}
	switch {
	case !cmd.Bool("spreadsheet-safe"):
		return format, nil
	case format != plantio.CSV:
		return format, misuse("--spreadsheet-safe: is for CSV: add --format csv, or leave it out")
	}
	return plantio.SafeCSV, nil
}
