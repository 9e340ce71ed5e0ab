package cli

import "github.com/urfave/cli/v3"

func newPlants(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "plants",
		Usage: "list, count, browse, export, import and reset plants",
		Description: "Works on the database of --storage-url, with or without a server. Only import and reset write.\n" +
			"Examples:\n" +
			"  plantstore plants list --limit 20\n" +
			"  plantstore plants import plants.jsonl",
		Commands: []*cli.Command{newList(p), newGet(p), newCount(p), newBrowse(p), newExport(p), newImport(p), newReset(p)},
	}
}
