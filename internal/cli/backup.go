package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/atomicfile"
	"plantstore/internal/config"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func newBackup(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "backup",
		Usage:     "write a verified copy of the database to a file",
		ArgsUsage: "FILE",
		Description: "Copies all plants that were acknowledged before it started. The copy is verified before\n" +
			"it appears as FILE, and replaces an older backup. FILE must not be a database that is open, has\n" +
			"been written to, or was kept by restore. The server may run.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 the copy is corrupt and was deleted.\n" +
			"Examples:\n" +
			"  plantstore backup \"plants-$(date +%F).db\"",
		Flags:        storeFlags(jsonFlag(), quietFlag()),
		ArgValidator: arguments(1, 1),
		Action:       configured(p, backup),
	}
}

func backup(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	file := cmd.Args().First()
	if file == standardStream {
		return misuseOf(cmd, "a backup needs a file, since it is verified before it appears; use plants export for stdout")
	}
	if err := errors.Join(requireFile(c), checkDestination(file, c)); err != nil {
		return err
	}
	run := func(ctx context.Context, store app.CommandStore) error {
		plants, size, err := writeBackup(ctx, file, store)
		if err != nil {
			return corruptStore(p, fmt.Errorf("backup to %s: %w", file, adviseDestination(err)),
				"the database is corrupt, the copy was deleted: stop the server and "+remedy)
		}
		return printResult(p.Stdout, cmd, struct {
			File   string `json:"file"`
			Plants int64  `json:"plants"`
			Bytes  int64  `json:"bytes"`
		}{file, plants, size}, "%s in %s, verified, %d bytes", counted(plants, "plant is", "plants are"), file, size)
	}
	err := withStore(ctx, c, storage.Options{ReadOnly: true}, run)
	if errors.Is(err, bbolt.ErrPending) { // opening for writing moves the journal into the database
		err = withStore(ctx, c, storage.Options{}, run)
	}
	return err
}

// writeBackup writes a verified copy of the store to the file path. It returns the number
// of plants and the size in bytes.
func writeBackup(ctx context.Context, path string, store app.CommandStore) (plants, size int64, err error) {
	err = atomicfile.Replace(path, filePerm, func(file *atomicfile.File) error {
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
