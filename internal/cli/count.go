package cli

import (
	"context"
	"math"

	"github.com/urfave/cli/v3"

	"plantstore/storage"
)

func newCount(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "count",
		Usage: "print how many plants there are",
		Description: "Reads every one of them.\n" +
			"Example:\n" +
			"  plantstore plants count --json",
		Flags: append([]cli.Flag{jsonFlag()}, optionFlags("STORAGE_URL")...),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			c, err := loadConfig(p, cmd)
			if err != nil {
				return err
			}
			return withStore(ctx, c, forReading, func(ctx context.Context, store storage.Store) error {
				return count(ctx, p, cmd, store)
			})
		},
	}
}

func count(ctx context.Context, p *Process, cmd *cli.Command, store storage.Store) error {
	plants := int64(0)
	for _, err := range store.List(ctx, math.MinInt64) {
		if err != nil {
			return err
		}
		plants++
	}
	return report(p.Stdout, cmd, struct {
		Plants int64 `json:"plants"`
	}{plants}, "%d", plants)
}
