package cli

import (
	"context"
	"errors"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/plantio"
	"plantstore/storage"
)

// withStore opens the store, or connects to the server that has it open, and calls run.
func withStore(ctx context.Context, c *config.Config, o storage.Options, run func(context.Context, app.Plants) error) (err error) {
	store, err := app.OpenPlants(ctx, c, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	err = run(ctx, store)
	if errors.Is(err, storage.ErrCorrupt) {
		return findings("%v: %s", err, remedy)
	}
	return err
}

// printPlants prints the plants of a source in the format of --format.
func printPlants(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config, source func(app.Plants) plantio.Source) error {
	out, err := plantWriter(p.Stdout, cmd)
	if err != nil {
		return err
	}
	return withStore(ctx, c, storage.Options{ReadOnly: true}, func(ctx context.Context, store app.Plants) error {
		_, err := plantio.Export(ctx, source(store), out, func(int64) {})
		if err != nil {
			_ = out.Flush() // best effort: the plants before the error
		}
		return err
	})
}
