package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/internal/plantio"
	"plantstore/storage"
)

func newList(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "print plants in ascending order of their ids",
		Description: "A terminal gets the first 100 plants unless there is a --limit.\n" +
			"Examples:\n" +
			"  plantstore plants list --limit 20\n" +
			"  plantstore plants list --after 4711 --tag climber --format csv",
		Flags: storeFlags(
			&cli.Int64Flag{Name: "after", Config: decimal(), Usage: "only plants whose id is greater than `ID`", HideDefault: true},
			&cli.Int64Flag{Name: "limit", Config: decimal(), Usage: "at most `N` plants", HideDefault: true},
			&cli.StringFlag{Name: "tag", Usage: "only plants with this `tag`"},
			formatFlag(),
		),
		Action: configured(p, list),
	}
}

// terminalPlants is how many plants list prints on a terminal without --limit.
const terminalPlants = 100

func list(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	q, err := parseQuery(cmd)
	if err != nil {
		return err
	}
	preview := q.Limit == nil && logging.IsTerminal(p.Stdout)
	if preview {
		q.Limit = new(int64(terminalPlants + 1))
	}
	shown, last := 0, int64(0)
	err = printPlants(ctx, p, cmd, c, func(ctx context.Context, store app.CommandStore, each func(storage.Record) error) error {
		return q.Source(store)(ctx, func(record storage.Record) error {
			if shown++; preview && shown > terminalPlants { // there are more
				return nil
			}
			last = record.ID
			return each(record)
		})
	})
	if err == nil && preview && shown > terminalPlants {
		_, err = fmt.Fprintf(p.Stderr, "plantstore: these are the first %d; continue with --after %d, or see more with --limit\n", terminalPlants, last)
	}
	return err
}

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
