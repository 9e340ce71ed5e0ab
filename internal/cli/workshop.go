package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
	"plantstore/internal/transfer"
	"plantstore/storage"
)

// The flags of serve that are for workshops, and for tests of clients. They are
// no options of the configuration: the other commands have no use for them.
const (
	flagEphemeral = "ephemeral"
	flagSeed      = "seed"
)

func workshopFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: flagEphemeral, Usage: "keep the plants, and the secret, in a new temporary folder that is gone at exit", HideDefault: true},
		&cli.StringFlag{Name: flagSeed, Usage: "import this `FILE`, JSON Lines or CSV, before serving; ids that are taken are skipped"},
	}
}

// ephemeral makes the temporary folder of --ephemeral, if that is given, and sets
// the storage URL to a file in it. It returns what removes the folder.
func ephemeral(cmd *cli.Command) (remove func() error, err error) {
	if !cmd.Bool(flagEphemeral) {
		return func() error { return nil }, nil
	}
	if cmd.IsSet("storage-url") {
		return nil, misuseOf(cmd, "--ephemeral and --storage-url are both given; give one of them")
	}
	dir, err := os.MkdirTemp("", "plantstore-")
	if err != nil {
		return nil, fmt.Errorf("--ephemeral: %w; TMPDIR names another place", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	if err := cmd.Set("storage-url", bboltScheme+":"+filepath.Join(dir, "plants.db")); err != nil {
		return nil, errors.Join(err, remove())
	}
	return remove, nil
}

// seed imports the file of --seed, if that is given, and returns what logs it.
func seed(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config, store storage.Store) (log func(*slog.Logger), err error) {
	file := cmd.String(flagSeed)
	if file == "" {
		return func(*slog.Logger) {}, nil
	}
	i := &importer{p: p, cmd: cmd, limit: c.MaxBodyBytes, options: transfer.Options{SkipConflicts: true, Create: store.CreateAll}}
	if err := i.importFile(ctx, file); err != nil {
		return nil, ended(ctx, fmt.Errorf("--%s: %w", flagSeed, err))
	}
	if i.sum.Bad > 0 {
		return nil, findings("--%s: %s has %s: %s", flagSeed, file, counted(i.sum.Bad, "bad line", "bad lines"), i.remedy("mend the file and start again"))
	}
	return func(logger *slog.Logger) {
		logger.Info("seeded", "file", file, "created", i.sum.Created, "identical", i.sum.Identical, "skipped", i.sum.Skipped)
	}, nil
}
