package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
	"plantstore/internal/durable"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func newBackup(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "backup",
		Usage:     "write a checked copy of the database, while a server runs or not",
		ArgsUsage: "FILE",
		Description: "The copy has every plant whose creation was answered before it began. It is read and\n" +
			"checked whole before it appears as FILE, and takes the place of an older one, but not of\n" +
			"a database that has been written to, or is open.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 the copy is damaged, and was not kept.\n" +
			"Example:\n" +
			"  plantstore backup \"plants-$(date +%F).db\"",
		Flags:        append([]cli.Flag{jsonFlag(), quietFlag()}, optionFlags("STORAGE_URL")...),
		ArgValidator: oneArgument,
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return backup(ctx, p, cmd)
		},
	}
}

func backup(ctx context.Context, p *Process, cmd *cli.Command) error {
	file := cmd.Args().First()
	if file == standardStream {
		return misuseOf(cmd, "a backup is checked before it appears, and so needs a file: for stdout there is plants export")
	}
	c, err := loadConfig(p, cmd)
	if err != nil {
		return err
	}
	if err := errors.Join(inAFile(c), notAStore(file, c)); err != nil {
		return err
	}
	return withStore(ctx, c, forReading, func(ctx context.Context, store storage.Store) error {
		snapshotter, ok := store.(storage.Snapshotter)
		if !ok {
			return fmt.Errorf("this engine makes no copies: use its own tools")
		}
		plants, err := writeBackup(ctx, file, snapshotter)
		if err != nil {
			return damaged(p, fmt.Errorf("backup to %s: %w", file, advisedFile(err)),
				"the database is damaged, and the copy was not kept: stop the server and "+mend)
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		return report(p.Stdout, cmd, struct {
			File   string `json:"file"`
			Plants int64  `json:"plants"`
			Bytes  int64  `json:"bytes"`
		}{file, plants, info.Size()}, "%s in %s, checked, %d bytes", counted(plants, "plant is", "plants are"), file, info.Size())
	})
}

// writeBackup writes a copy of the store to file, if it is whole, and returns how
// many plants are in it.
func writeBackup(ctx context.Context, file string, store storage.Snapshotter) (plants int64, err error) {
	err = durable.Replace(file, filePerm, func(tmp string) error {
		err := writeFile(tmp, func(w io.Writer) error { return store.Snapshot(ctx, w) })
		if err == nil {
			plants, err = bbolt.Check(ctx, tmp)
		}
		return err
	})
	return plants, err
}

// mend is what can be done about a damaged database.
const mend = "restore a backup, or save what is whole with plantstore plants export --skip-damaged"

// inAFile refuses what only works on a store that is in a file.
func inAFile(c *config.Config) error {
	if c.Storage.Path == "" {
		return misuse("the plants are not in a file, but in %s: use its own tools for copies", c.Storage.Scheme)
	}
	return nil
}

// damaged returns err, or, if it is about damage, prints the findings and returns
// one of exit code 3 that says what that means.
func damaged(p *Process, err error, format string, args ...any) error {
	var damage *bbolt.DamageError
	if !errors.As(err, &damage) {
		return err
	}
	if err := writeFindings(p.Stderr, damage.Report); err != nil {
		return err
	}
	return findings(format, args...)
}
