package cli

import (
	"context"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

func newReset(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "reset",
		Usage: "reset a running server with --ephemeral to its seed",
		Description: "Replaces all plants with the seed of the server, in one step.\n" +
			"Examples:\n" +
			"  plantstore plants reset",
		Flags:  storeFlags(p, jsonFlag(), quietFlag()),
		Action: configured(p, reset),
	}
}

func reset(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	server, err := requireServer(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }() // it has responded
	plants, err := server.Reset(ctx)
	if err != nil {
		return err
	}
	return printResult(p.Stdout, cmd, struct {
		Plants int64 `json:"plants"`
	}{plants}, "reset to the seed: %s", counted(plants, "plant", "plants"))
}
