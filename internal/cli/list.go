package cli

import (
	"context"
	"math"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/transfer"
)

func newList(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "print plants in ascending order of their ids",
		Description: "Examples:\n" +
			"  plantstore plants list --limit 20\n" +
			"  plantstore plants list --after 4711 --tag climber --format csv",
		Flags: append([]cli.Flag{
			&cli.Int64Flag{Name: "after", Usage: "begin with the first plant whose id is greater than `ID`", HideDefault: true},
			&cli.Int64Flag{Name: "limit", Usage: "end after `N` plants", HideDefault: true},
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
	return printPlants(ctx, p, cmd, q.write)
}

// A query says which plants are listed.
type query struct {
	from  int64
	after bool // from itself is not
	limit int64
	tag   *string // nil: any or none
}

func parseQuery(cmd *cli.Command) (query, error) {
	q := query{from: math.MinInt64, limit: math.MaxInt64}
	if cmd.IsSet("after") {
		q.from, q.after = cmd.Int64("after"), true
	}
	if cmd.IsSet("limit") {
		q.limit = cmd.Int64("limit")
	}
	if cmd.IsSet("tag") {
		tag := cmd.String("tag")
		q.tag = &tag
	}
	if q.limit < 0 {
		return q, misuse("--limit: %d: must not be negative", q.limit)
	}
	return q, nil
}

// write writes the plants of the query.
func (q query) write(ctx context.Context, store app.Plants, out transfer.Writer) error {
	if q.limit == 0 {
		return nil
	}
	written := int64(0)
	for record, err := range store.List(ctx, q.from) {
		switch tag := record.Plant.Tag; {
		case err != nil:
			return err
		case q.after && record.ID == q.from, q.tag != nil && (tag == nil || *tag != *q.tag):
			continue
		}
		if err := out.Write(record); err != nil {
			return err
		}
		if written++; written == q.limit {
			return nil
		}
	}
	return nil
}
