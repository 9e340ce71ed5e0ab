package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v3"

	"plantstore/internal/control"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func newRestore(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "restore",
		Usage:     "put a backup in the place of the database, while no server runs",
		ArgsUsage: "FILE",
		Description: "All of the backup is checked before anything is replaced. What was there is kept beside it,\n" +
			"under a name that is printed. FILE stays as it is.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 the backup is damaged, and nothing was replaced.\n" +
			"Example:\n" +
			"  plantstore restore plants-2026-01-31.db",
		Flags:        append([]cli.Flag{jsonFlag(), quietFlag()}, optionFlags("STORAGE_URL")...),
		ArgValidator: oneArgument,
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return restore(ctx, p, cmd)
		},
	}
}

func restore(ctx context.Context, p *Process, cmd *cli.Command) error {
	file := cmd.Args().First()
	c, err := loadConfig(p, cmd)
	if err != nil {
		return err
	}
	if err := errors.Join(inAFile(c), notTheDatabase(file, c)); err != nil {
		return err
	}
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("restore %s: %w", file, adviseMissing(reason(err), "name a file that plantstore backup has written"))
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	plants, kept, err := bbolt.Restore(ctx, c.Storage.Path, file)
	if err != nil {
		return damaged(p, whoHasIt(ctx, c.Storage.Path, advised(ended(ctx, err)), ""), "%s is damaged: nothing was replaced; take an older backup", file)
	}
	was := "there was none before"
	if kept != "" {
		was = "what was there is " + kept
	}
	return report(p.Stdout, cmd, struct {
		Database string `json:"database"`
		Plants   int64  `json:"plants"`
		Kept     string `json:"kept,omitzero"`
	}{c.Storage.Path, plants, kept}, "%s in %s; %s", counted(plants, "plant is", "plants are"), c.Storage.Path, was)
}

// whoHasIt says that it is a server that has the database open, if it is. What can be
// done other than to stop that is put at the end, such as ", or name another file".
func whoHasIt(ctx context.Context, database string, err error, other string) error {
	if !errors.Is(err, storage.ErrLocked) {
		return err
	}
	client, dialErr := control.Dial(ctx, database)
	if dialErr != nil {
		return err
	}
	return errors.Join(stopFirst(database, other), client.Close())
}

// stopFirst is about what does not work while a server runs.
func stopFirst(database, other string) error {
	return fmt.Errorf("a server runs on %s: stop it first%s", database, other)
}
