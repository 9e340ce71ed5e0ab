package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/files"
	"plantstore/storage/bbolt"
)

func newRestore(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "restore",
		Usage:     "restore the database from a backup (the server must be stopped)",
		ArgsUsage: "FILE",
		Description: "Verifies the backup and copies it into place. With --force, replaces an existing database, and\n" +
			"keeps it under a name with the date. FILE stays as it is.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 the backup is corrupt and nothing was replaced.\n" +
			"Examples:\n" +
			"  plantstore restore --force plants-2026-01-31.db",
		Flags: storeFlags(p,
			&cli.BoolFlag{Name: "force", Usage: "replace the database, and keep it under another name", HideDefault: true},
			jsonFlag(), quietFlag(),
		),
		ArgValidator: arguments(1, 1),
		Action:       configured(p, restore),
	}
}

func restore(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	file := cmd.Args().First()
	if err := requireFile(c); err != nil {
		return err
	}
	backup, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("restore %s: %w", file, app.AdviseRead(files.Reason(err), "name a file written by plantstore backup"))
	}
	if database, err := os.Stat(c.Storage.Path); err == nil && os.SameFile(backup, database) {
		return misuse("%s is the database itself: name another file", file)
	}
	if server, _ := app.Server(ctx, c.Storage.Path); server != nil {
		_ = server.Close() // it has responded
		if !server.Info().Ephemeral {
			return app.ServerRuns(c.Storage.Path, "")
		}
		fmt.Fprintf(p.Stderr, "%s: the server on %s runs with --ephemeral: it keeps its own plants\n", p.Name, c.Storage.Path)
	}
	if _, err := os.Stat(c.Storage.Path); err == nil && !cmd.Bool("force") {
		return misuse("%s exists: replace it with --force, which keeps it under another name", c.Storage.Path)
	}
	plants, kept, err := bbolt.Restore(ctx, c.Storage.Path, file)
	if err != nil {
		return corruptStore(p, app.AdviseLocked(ctx, c.Storage.Path, app.AdviseDatabase(err), ""), "%s is corrupt, nothing was replaced: use an older backup", file)
	}
	was := "there was no previous database"
	if kept != "" {
		was = "the previous database is " + kept
	}
	return printResult(p.Stdout, cmd, struct {
		Database string `json:"database"`
		Plants   int64  `json:"plants"`
		Kept     string `json:"kept,omitzero"`
	}{c.Storage.Path, plants, kept}, "%s restored to %s; %s", counted(plants, "plant", "plants"), c.Storage.Path, was)
}
