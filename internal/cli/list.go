package cli

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/storage"
)

func newList(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "print plants in ascending order of their ids",
		Description: "On a terminal, prints the first 100 plants unless you set --limit.\n" +
			"Examples:\n" +
			"  plantstore plants list --limit 20\n" +
			"  plantstore plants list --after 4711 --tag climber --format csv",
		Flags: storeFlags(p,
			&cli.Int64Flag{Name: "after", Value: math.MinInt64, Config: decimal(), Usage: "only plants whose id is greater than `ID`", HideDefault: true},
			&cli.Int64Flag{Name: "limit", Config: decimal(), Usage: "at most `N` plants", HideDefault: true},
			&cli.StringFlag{Name: "tag", Usage: "only plants with this `TAG`"},
			formatFlag(),
		),
		Action: configured(p, list),
	}
}

// terminalPlants is how many plants list prints on a terminal without --limit.
const terminalPlants = 100

func list(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	limit, preview := cmd.Int64("limit"), false
	switch {
	case limit < 0:
		return misuse("--limit: %d: must not be negative", limit)
	case cmd.IsSet("limit"):
	case logging.IsTerminal(p.Stdout):
		limit, preview = terminalPlants, true
	default:
		limit = math.MaxInt64
	}
	from := cmd.Int64("after")
	switch { // the plant --after itself may be corrupt, and is not read
	case from == math.MaxInt64:
		limit = 0
	case cmd.IsSet("after"):
		from++
	}
	shown, last, more := int64(0), int64(0), false
	read, before := false, int64(0) // of the plant that was read last, shown or not
	err := printPlants(ctx, p, cmd, c, func(ctx context.Context, store app.Store, each func(storage.Record) error) error {
		for record, err := range store.List(ctx, from) {
			if err != nil && read && !errors.As(err, new(*storage.CorruptError)) { // which names its plant
				return fmt.Errorf("%w; the last plant before it has the id %d", err, before)
			}
			if err != nil {
				return err
			}
			read, before = true, record.ID
			if !selected(cmd, record) {
				continue
			}
			if more = shown == limit; more {
				return nil
			}
			if err := each(record); err != nil {
				return err
			}
			shown, last = shown+1, record.ID
		}
		return nil
	})
	if err == nil && preview && more {
		_, err = fmt.Fprintf(p.Stderr, "%s: these are the first %d; continue with --after %d, or raise --limit\n", p.Name, terminalPlants, last)
	}
	return err
}

func selected(cmd *cli.Command, record storage.Record) bool {
	tag := record.Plant.Tag
	return !cmd.IsSet("tag") || tag != nil && *tag == cmd.String("tag")
}
