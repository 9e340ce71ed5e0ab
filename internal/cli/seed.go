package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/plantio"
)

// The flags of serve for demonstrations and client tests. They are not options of the
// configuration, since they concern no other command.
const (
	flagEphemeral = "ephemeral"
	flagSeed      = "seed"
)

func seedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: flagEphemeral, Usage: "keep the plants and the secret in a temporary directory that is removed at exit", HideDefault: true},
		&cli.StringFlag{Name: flagSeed, Usage: "import `FILE` (JSON Lines or CSV) before serving; taken ids are skipped"},
	}
}

func seed(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config, server *app.App) error {
	file := cmd.String(flagSeed)
	if !cmd.IsSet(flagSeed) {
		return nil
	}
	if file == "" {
		return misuseOf(cmd, "--%s needs the name of a file", flagSeed)
	}
	i := &importer{p: p, cmd: cmd, limits: c.PlantLimits, options: plantio.Options{SkipConflicts: true, Create: server.Store().CreateAll}}
	if err := i.importFile(ctx, file); err != nil {
		return fmt.Errorf("--%s: %w", flagSeed, err)
	}
	if i.sum.Bad > 0 {
		return findings("--%s: %s has %s: %s", flagSeed, file, counted(i.sum.Bad, "bad line", "bad lines"), i.remedy("fix the file and start again"))
	}
	server.Notice(func(logger *slog.Logger) {
		logger.Info("seeded", "file", file, "created", i.sum.Created, "identical", i.sum.Identical, "skipped", i.sum.Skipped)
	})
	return nil
}
