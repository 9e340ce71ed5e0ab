package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/storage"
)

func newCheck(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "check",
		Usage: "verify the integrity of the database (the server must be stopped)",
		Description: "Verifies the structure of the database and the checksum of each plant. It changes nothing.\n" +
			"Exit codes: 0 intact, 1 corrupt or unreadable, 2 misused.\n" +
			"Examples:\n" +
			"  plantstore check\n" +
			"  plantstore backup copy.db && plantstore check --storage-url copy.db",
		Flags:  storeFlags(&cli.BoolFlag{Name: "json", Usage: "print the findings as JSON", HideDefault: true}),
		Action: configured(p, check),
	}
}

func check(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) (err error) {
	store, err := app.OpenStore(ctx, c, storage.Options{ReadOnly: true, AllowCorrupt: true})
	if err != nil {
		return app.AdviseLocked(ctx, c.Storage.Path, err, ", or make a verified copy of it with plantstore backup FILE")
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	report, err := store.Check(ctx, nil)
	if err != nil {
		return fmt.Errorf("the check was not finished: %w", err)
	}
	write := writeFindings
	if cmd.Bool("json") {
		write = writeFindingsJSON
	}
	if err := write(p.Stdout, report); err != nil {
		return err
	}
	if !report.Intact() {
		return fmt.Errorf("%s is corrupt: follow the steps in the findings; if there are none, "+remedy, app.DataPlace(c.Storage))
	}
	return nil
}
