package cli

import (
	"context"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
)

func newReset(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "reset",
		Usage: "put a running server with --ephemeral back to its seed",
		Description: "Replaces all plants by the seed of the server, in one step: each create happens before or\n" +
			"after it. Give the storage URL that the server prints at its start.\n" +
			"Examples:\n" +
			"  plantstore plants reset --storage-url /tmp/plantstore-123/plants.db",
		Flags:  storeFlags(jsonFlag(), quietFlag()),
		Action: configured(p, reset),
	}
}

func reset(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	plants, err := app.ResetPlants(ctx, c)
	if err != nil {
		return err
	}
	return printResult(p.Stdout, cmd, struct {
		Plants int64 `json:"plants"`
	}{plants}, "reset to the seed: %s", counted(plants, "plant", "plants"))
}

// resetCommand returns the command that resets a server with --ephemeral, for a POSIX
// shell, empty for another server.
func resetCommand(p *Process, cmd *cli.Command, c *config.Config) string {
	if !cmd.Bool("ephemeral") {
		return ""
	}
	return shellQuote(p.Args[0]) + " plants reset --storage-url " + shellQuote(c.Storage.URL)
}
