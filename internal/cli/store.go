package cli

import (
	"context"
	"errors"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/transfer"
	"plantstore/storage"
)

// withStore opens the store, or connects to the server that has it open, and calls run.
func withStore(ctx context.Context, c *config.Config, a app.Access, run func(context.Context, app.Plants) error) (err error) {
	store, err := app.OpenPlants(ctx, c, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	err = run(ctx, store)
	if errors.Is(err, storage.ErrCorrupt) {
		return findings("%v: %s", err, mend)
	}
	return err
}

// printPlants prints what write writes of the store, in the format that --format
// names.
func printPlants(ctx context.Context, p *Process, cmd *cli.Command, write func(context.Context, app.Plants, transfer.Writer) error) error {
	out, err := plantWriter(p.Stdout, cmd)
	if err != nil {
		return err
	}
	c, err := loadConfig(p, cmd)
	if err != nil {
		return err
	}
	return withStore(ctx, c, app.ForReading, func(ctx context.Context, store app.Plants) error {
		return errors.Join(write(ctx, store, out), out.Flush())
	})
}
