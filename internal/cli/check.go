package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func newCheck(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "check",
		Usage: "verify the integrity of the database (the server must be stopped)",
		Description: "Verifies the structure of the database and the checksum of each plant. Changes nothing.\n" +
			"Exit codes: 0 intact, 1 corrupt or unreadable, 2 misused.\n" +
			"Examples:\n" +
			"  plantstore check\n" +
			"  plantstore backup copy.db && plantstore check --storage-url copy.db",
		Flags:  storeFlags(p, &cli.BoolFlag{Name: "json", Usage: "print the findings as JSON", HideDefault: true}),
		Action: configured(p, check),
	}
}

func check(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) (err error) {
	var report storage.Report
	store, err := app.OpenDatabase(ctx, c, storage.Options{ReadOnly: true})
	if refused, ok := errors.AsType[*bbolt.CorruptStoreError](err); ok {
		report = refused.Report
	} else if err != nil {
		return app.AdviseLocked(ctx, c.Storage.Path, err, ", or make a verified copy of it with plantstore backup FILE")
	} else {
		defer func() { err = errors.Join(err, store.Close()) }()
		if report, err = store.Check(ctx); err != nil {
			return fmt.Errorf("the check did not finish: %w", err)
		}
	}
	write := writeFindings
	if cmd.Bool("json") {
		write = writeFindingsJSON
	}
	if err := write(p.Stdout, report); err != nil {
		return err
	}
	if !report.Intact() {
		return fmt.Errorf("%s is corrupt: "+remedy, app.DataPlace(c.Storage))
	}
	return nil
}
