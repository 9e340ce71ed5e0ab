package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"plantstore/internal/config"
	"plantstore/internal/control"
	"plantstore/storage"
)

// seedFile is the name of the file with the initial plants of an ephemeral server, next to its
// database.
const seedFile = "seed.db"

// keepSeed copies the plants of an ephemeral server before the first request, so that a reset
// needs neither the file of --seed nor memory for them.
func (a *App) keepSeed(ctx context.Context) error {
	if !a.options.Ephemeral {
		return nil
	}
	path := filepath.Join(filepath.Dir(a.config.Storage.Path), seedFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // next to the database
	if err != nil {
		return err
	}
	if err := errors.Join(a.store.Snapshot(ctx, file), file.Close()); err != nil {
		return err
	}
	if a.seed, err = Engines().Open(ctx, BboltScheme+":"+path, storage.Options{ReadOnly: true}); err != nil {
		return err
	}
	a.onClose(a.seed.Close)
	return nil
}

// reset replaces all plants by the seed, and returns their number. It logs failures. It returns
// [storage.ErrNotEphemeral] if the server is not ephemeral.
func (a *App) reset(ctx context.Context) (plants int64, err error) {
	if a.seed == nil {
		return 0, storage.ErrNotEphemeral
	}
	began := time.Now()
	if plants, err = a.seed.Count(ctx); err == nil {
		err = a.store.Reset(ctx, a.seed.List(ctx, math.MinInt64))
	}
	switch {
	case err == nil:
		a.logger.InfoContext(ctx, "plants reset", "plants", plants, "duration", time.Since(began))
	case errors.Is(err, storage.ErrUnrecorded):
		a.logger.ErrorContext(ctx, "plants reset but not recorded", "cause", err.Error())
	default:
		a.logger.ErrorContext(ctx, "reset failed", "cause", err.Error())
	}
	return plants, err
}

// ResetPlants makes the running server of a configuration reset its plants, and returns their
// number. It returns [storage.ErrNotEphemeral] if the server is not ephemeral.
func ResetPlants(ctx context.Context, c *config.Config) (plants int64, err error) {
	if c.Storage.Path == "" {
		return 0, storage.ErrNotEphemeral
	}
	client, err := control.Dial(ctx, c.Storage.Path)
	if err != nil {
		return 0, fmt.Errorf("no server runs on %s: %w; give --storage-url as the server prints it", c.Storage.Path, storage.ErrNotEphemeral)
	}
	plants, err = client.Reset(ctx)
	return plants, errors.Join(err, client.Close())
}
