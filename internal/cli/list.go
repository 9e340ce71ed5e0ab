package cli

import (
	"context"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/plantio"
)

func newList(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "print plants in ascending order of their ids",
		Description: "Examples:\n" +
			"  plantstore plants list --limit 20\n" +
			"  plantstore plants list --after 4711 --tag climber --format csv",
		Flags: append([]cli.Flag{
			&cli.Int64Flag{Name: "after", Usage: "only plants whose id is greater than `ID`", HideDefault: true},
			&cli.Int64Flag{Name: "limit", Usage: "at most `N` plants", HideDefault: true},
			&cli.StringFlag{Name: "tag", Usage: "only plants with this `tag`"},
			formatFlag(), safeFlag(),
		}, optionFlags(storageOptions()...)...),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return list(ctx, p, cmd)
		},
	}
}

func list(ctx context.Context, p *Process, cmd *cli.Command) error {
	q, err := parseQuery(cmd)
	if err != nil {
		return err
	}
	return printPlants(ctx, p, cmd, func(store app.Plants) plantio.Source { return q.Source(store) })
}

// parseQuery returns the query of the flags.
func parseQuery(cmd *cli.Command) (q plantio.Query, err error) {
	if cmd.IsSet("after") {
		q.After = new(cmd.Int64("after"))
	}
	if cmd.IsSet("tag") {
		q.Tag = new(cmd.String("tag"))
	}
	if limit := cmd.Int64("limit"); limit < 0 {
		return q, misuse("--limit: %d: must not be negative", limit)
	} else if cmd.IsSet("limit") {
		q.Limit = &limit
	}
	return q, nil
}
