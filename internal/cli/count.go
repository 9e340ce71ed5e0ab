package cli

import (
	"context"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/storage"
)

func newCount(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "count",
		Usage: "print the number of plants",
		Description: "Prints the number that the database keeps. Over a network, counts all plants.\n" +
			"Examples:\n" +
			"  plantstore plants count --json",
		Flags:  storeFlags(p, jsonFlag()),
		Action: configured(p, count),
	}
}

func count(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	return withStore(ctx, c, storage.Options{ReadOnly: true}, func(ctx context.Context, store app.Store) error {
		plants, err := store.Count(ctx)
		if err != nil {
			return err
		}
		return printResult(p.Stdout, cmd, struct {
			Plants int64 `json:"plants"`
		}{plants}, "%d", plants)
	})
}
