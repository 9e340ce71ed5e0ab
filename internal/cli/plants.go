package cli

import (
	"context"

	"github.com/urfave/cli/v3"
)

// newPlants returns the command above those that show and move plants.
func newPlants(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "plants",
		Usage: "show the plants, or move them to and from files",
		Description: "Works on the database of serve with the same --storage-url, whether a server runs on it or not.\n" +
			"Only import makes or changes anything.",
		Commands: []*cli.Command{newList(p), newGet(p), newCount(p), newExport(p), newImport(p)},
		Action: func(_ context.Context, cmd *cli.Command) error {
			return cli.ShowSubcommandHelp(cmd)
		},
	}
}
