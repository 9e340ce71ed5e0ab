package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"plantstore/internal/config"
	"plantstore/internal/control"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// A seed is a copy of the database of an ephemeral server with its initial plants.
type seed struct {
	path   string
	plants int64

	resetting sync.Mutex // held during a reset
}

// keepSeed copies the database of an ephemeral server before the first request, so that a reset
// needs neither the file of --seed nor memory for the plants.
func (a *App) keepSeed(ctx context.Context) error {
	if !a.options.Ephemeral {
		return nil
	}
	plants, err := a.store.Count(ctx)
	if err != nil {
		return err
	}
	s := &seed{path: filepath.Join(filepath.Dir(a.config.Storage.Path), "seed.db"), plants: plants}
	file, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(a.store.Snapshot(ctx, file), file.Close()); err != nil {
		return err
	}
	a.seed = s
	return nil
}

// reset replaces all plants by the seed, and returns their number. It logs failures. It returns
// [storage.ErrNotEphemeral] if the server is not ephemeral.
func (a *App) reset(ctx context.Context) (plants int64, err error) {
	if a.seed == nil {
		return 0, storage.ErrNotEphemeral
	}
	a.seed.resetting.Lock()
	defer a.seed.resetting.Unlock()
	began, next := time.Now(), a.seed.path+".next"
	if err = a.seed.copyTo(next); err == nil { // creates continue meanwhile, and after an error
		//nolint:contextcheck // the engine outlives the request
		err = a.store.Reset(func() (storage.Engine, storage.Features, error) { return a.reopen(next) })
	}
	if err != nil {
		a.logger.ErrorContext(ctx, "reset failed", "cause", err.Error())
		return 0, errors.Join(err, os.RemoveAll(next))
	}
	a.logger.InfoContext(ctx, "plants reset", "plants", a.seed.plants, "duration", time.Since(began))
	return a.seed.plants, nil
}

// copyTo copies the seed to a new file. Its error matches [storage.ErrNoSpace] if there is no
// space.
func (s *seed) copyTo(path string) error {
	from, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()                                     // it was only read
	to, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // next to the database
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil && bbolt.NoSpace(err) {
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, err)
	}
	return err
}

// reopen replaces the database, which is closed, by the file next, and opens it.
func (a *App) reopen(next string) (storage.Engine, storage.Features, error) {
	database := a.config.Storage.Path
	err := errors.Join(os.RemoveAll(bbolt.WatermarkPath(database)), os.RemoveAll(bbolt.JournalPath(database)), os.Rename(next, database))
	if err != nil {
		return nil, storage.Features{}, err
	}
	engine, err := bbolt.OpenEngine(database, a.storeOptions())
	if err != nil {
		return nil, storage.Features{}, err
	}
	return engine, engine.Features(), nil
}

// ResetPlants makes the running server of a configuration reset its plants, and returns their
// number.
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
