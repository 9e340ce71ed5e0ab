package cli

import (
	"context"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/internal/plantio"
	"plantstore/storage"
)

func newPlants(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "plants",
		Usage: "list, count, browse, export, import and reset plants",
		Description: "The commands work with or without a running server. Only reset needs one.\n" +
			"Examples:\n" +
			"  plantstore plants list --limit 20\n" +
			"  plantstore plants import plants.jsonl",
		Commands: []*cli.Command{newList(p), newGet(p), newCount(p), newBrowse(p), newExport(p), newImport(p), newReset(p)},
	}
}

// fileFormat returns the format of --format, or else by the file name.
func fileFormat(cmd *cli.Command, file string) plantio.Format {
	switch chosen(cmd, "format") {
	case "jsonl", "json", "table":
		return plantio.JSONLines
	case "csv":
		return plantio.CSV
	}
	return plantio.FormatOf(file)
}

// printPlants prints the plants that read passes to each, in the format of --format.
func printPlants(
	ctx context.Context, p *Process, cmd *cli.Command, c *config.Config,
	read func(ctx context.Context, store app.Store, each func(storage.Record) error) error,
) error {
	out := plantio.NewWriter(p.Stdout, fileFormat(cmd, ""))
	if name := chosen(cmd, "format"); name == "table" || name == "" && logging.IsTerminal(p.Stdout) {
		out = plantio.NewTable(p.Stdout)
	}
	return withStore(ctx, c, storage.Options{ReadOnly: true}, func(ctx context.Context, store app.Store) error {
		if err := read(ctx, store, out.Write); err != nil {
			_ = out.Flush() // best effort: the plants before the error
			return err
		}
		return out.Flush()
	})
}
