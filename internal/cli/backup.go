package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/files"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func newBackup(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "backup",
		Usage:     "write a verified copy of the database to a file",
		ArgsUsage: "FILE",
		Description: "Writes a verified copy of the database to FILE. The server can keep running. The backup contains\n" +
			"all plants acknowledged before it started.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 the copy was corrupt and has been deleted.\n" +
			"Examples:\n" +
			"  plantstore backup \"plants-$(date +%F).db\"",
		Flags:        storeFlags(p, forceFlag(), jsonFlag(), quietFlag()),
		ArgValidator: arguments(1, 1),
		Action:       configured(p, backup),
	}
}

func backup(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	file := cmd.Args().First()
	if file == standardStream {
		return misuseOf(cmd, "a backup cannot go to stdout; name a file, or use plants export")
	}
	if err := errors.Join(requireFile(c), checkOutput(file, cmd.Bool("force"))); err != nil {
		return err
	}
	run := func(ctx context.Context, store app.Store) error {
		if temporary(store) {
			return fmt.Errorf("the server on %s runs with --ephemeral, and has other plants: stop it first", c.Storage.Path)
		}
		plants, size, err := writeBackup(ctx, file, cmd.Bool("force"), store)
		if err != nil {
			return corruptStore(p, fmt.Errorf("backup to %s: %w", file, adviseOutput(err)),
				"the database is corrupt, the copy was deleted: stop the server and "+remedy)
		}
		return printResult(p.Stdout, cmd, struct {
			File   string `json:"file"`
			Plants int64  `json:"plants"`
			Bytes  int64  `json:"bytes"`
		}{file, plants, size}, "%s backed up to %s (%d bytes, verified)", counted(plants, "plant", "plants"), file, size)
	}
	return withStore(ctx, c, storage.Options{ReadOnly: true}, run)
}

// writeBackup writes a verified copy of the store to the file path, see [files.CreateOutput]. It
// returns the number of plants and the size in bytes.
func writeBackup(ctx context.Context, path string, force bool, store app.Store) (plants, size int64, err error) {
	err = files.CreateOutput(path, force, func(file *os.File) error {
		if err := store.Snapshot(ctx, file); err != nil {
			return err
		}
		info, err := file.Stat()
		if err != nil {
			return err
		}
		size = info.Size()
		plants, err = bbolt.Check(ctx, file)
		return err
	})
	return plants, size, err
}
